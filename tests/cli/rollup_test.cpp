// rollup, and stats --daily that reads what it has counted.

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

Json created(const std::string& number, const std::string& time, const std::string& type = "ORDER_PAID") {
  Json event = event_json(number, number);
  event["create_time"] = time;
  event["event_type"] = type;
  return event;
}

/// Two days of January 2020: three paid, of which two are delivered and one is dead; one sent and still pending.
void fill(const Cli& cli) {
  cli.init();
  cli.put({created("dead", "2020-01-01T12:00:00Z")});
  cli.fail_all("boom");
  cli.put({created("E1", "2020-01-01T00:00:00Z"), created("E2", "2020-01-01T23:59:59.999999Z")});
  REQUIRE(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);
  cli.put({created("E3", "2020-01-02T00:00:00Z", "ORDER_SENT")});
}

std::string days_of(const Cli& cli, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"stats", "--daily", "--json"});
  return cli.ok(words);
}

constexpr const char* kFirstOfJanuary =
    R"({"stat_date":"2020-01-01","event_type":"ORDER_PAID","publish_status":2,"event_count":2}
{"stat_date":"2020-01-01","event_type":"ORDER_PAID","publish_status":3,"event_count":1}
)";
constexpr const char* kSecondOfJanuary =
    R"({"stat_date":"2020-01-02","event_type":"ORDER_SENT","publish_status":0,"event_count":1}
)";

TEST_CASE("rollup counts days, stats --daily shows them") {
  const Cli cli;
  fill(cli);
  const ProcessResult before = cli.on_store({"stats", "--daily"});
  CHECK(before.exit_code == 0);
  CHECK_THAT(before.err, Contains("waybill rollup"));
  CHECK(cli.ok({"rollup", "--batch", "1", "--pause", "1ms"}) == "2 days rolled up\n");
  CHECK(cli.ok({"rollup"}) == "0 days rolled up\n");
  const std::string both = std::string(kFirstOfJanuary) + kSecondOfJanuary;
  CHECK(days_of(cli) == both);
  CHECK(cli.ok({"stats", "--daily"}) ==
        "DAY         TYPE        pending  in_progress  succeeded  failed  cancelled\n"
        "2020-01-01  ORDER_PAID        0            0          2       1          0\n"
        "2020-01-02  ORDER_SENT        1            0          0       0          0\n");
  (void)cli.ok({"archive", "--older-than", "0s"});
  (void)cli.ok({"purge", "--older-than", "0s"});
  CHECK(Json::parse(cli.ok({"rollup", "--json"})) == Json{{"days", 0}});
  CHECK(days_of(cli) == both);
}

TEST_CASE("stats --daily by type and days") {
  const Cli cli;
  fill(cli);
  (void)cli.ok({"rollup"});
  CHECK(days_of(cli, {"--type", "ORDER_SENT"}) == kSecondOfJanuary);
  CHECK(days_of(cli, {"--since", "2020-01-01T18:00:00Z", "--until", "2020-01-02T00:00:00Z"}) == kFirstOfJanuary);
  CHECK(days_of(cli, {"--since", "2020-01-02T18:00:00Z", "--until", "2020-01-02T18:00:00Z"}) == kSecondOfJanuary);
  CHECK(days_of(cli, {"--since", "7d"}).empty());
}

TEST_CASE("stats --daily refuses what it can't count by") {
  const Cli cli;
  fill(cli);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--topic", "order.paid"}, {"--to", "order.*=stdout:"}}) {
    const ProcessResult result = cli.on_store({"stats", "--daily", words[0], words[1]});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("--topic and --to"));
  }
}

}  // namespace
}  // namespace waybill::test
