#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

/// The last line: where the event is and what happens next.
std::string sentence(const Cli& cli, const std::string& event_no) {
  const std::string text = cli.ok({"show", event_no});
  const auto start = text.rfind('\n', text.size() - 2);
  return text.substr(start + 1);
}

TEST_CASE("show has every column and keeps the payload back unless asked") {
  const Cli cli;
  cli.init();
  Json event = event_json("E1");
  event["event_headers"] = {{"tenant", "t1"}};
  cli.put({event});
  const std::string text = cli.ok({"show", "E1"});
  for (const char* part : {"aggregate_id      1\n", "event_type        ORDER_PAID\n", "topic             order.paid\n",
                           "max_retry_count   5\n", R"({"tenant":"t1"})", "--payload shows it"})
    CHECK_THAT(text, Contains(part));
  CHECK(text.find(R"({"no":"E1"})") == std::string::npos);
  CHECK_THAT(cli.ok({"show", "E1", "--payload"}), Contains(R"({"no":"E1"})"));
  const Json json = Json::parse(cli.ok({"show", "E1", "--json"}));
  CHECK(json.at("id").is_string());
  CHECK(json.at("event_payload") == Json{{"no", "E1"}});
}

TEST_CASE("show says where the event is and what happens next") {
  const Cli cli;
  cli.init();
  Json scheduled = event_json("scheduled");
  scheduled["next_retry_time"] = "2090-01-01T00:00:00Z";
  cli.put({event_json("dead")});
  cli.fail_all("boom");
  cli.put({event_json("retried")});
  cli.fail_all("boom", std::chrono::hours{1});
  cli.put({event_json("delivered")});
  CHECK(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);
  cli.put({event_json("pending"), scheduled, event_json("cancelled")});
  (void)cli.ok({"cancel", "cancelled", "--reason", "test"});

  CHECK_THAT(sentence(cli, "pending"), Contains("due now") && Contains("MQ:order.paid"));
  CHECK_THAT(sentence(cli, "scheduled"), Contains("not due before 2090-01-01T00:00:00"));
  CHECK_THAT(sentence(cli, "retried"), Contains("failed 1 of 5 times, next attempt at 20"));
  CHECK_THAT(sentence(cli, "dead"), Contains("dead: ") && Contains("waybill retry --store sqlite:a.db dead"));
  CHECK_THAT(sentence(cli, "delivered"), Contains("succeeded: delivered at 20"));
  CHECK_THAT(sentence(cli, "cancelled"), Contains("cancelled"));
}

TEST_CASE("show tells a live lease from one that ran out") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  ClaimRequest request;
  request.owner = "host:1:abc";
  request.lease = std::chrono::seconds{60};
  const auto store = cli.open();
  const auto claimed = store->claim(request).events;
  REQUIRE(claimed.size() == 1);
  CHECK_THAT(sentence(cli, "E1"), Contains("host:1:abc is delivering it"));
  (void)store->extend(std::vector{token_of(claimed[0])}, std::chrono::microseconds{1});
  CHECK_THAT(sentence(cli, "E1"), Contains("lease of host:1:abc ran out"));
  CHECK(cli.ok({"list", "--status", "expired", "--json"}).find("E1") != std::string::npos);
}

TEST_CASE("a failed event whose budget is used up says so") {
  const Cli cli;
  cli.init();
  Json event = event_json("E1");
  event["max_retry_count"] = 0;
  cli.put({event});
  cli.fail_all("boom");
  CHECK_THAT(sentence(cli, "E1"), Contains("failed 1 of 0 times, the budget is used up"));
}

TEST_CASE("a number that is not there is a failure, and the message names it") {
  const Cli cli;
  cli.init();
  const ProcessResult result = cli.on_store({"show", "nobody\x1b[2J"});
  CHECK(result.exit_code == 1);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains("no event 'nobody?[2J' in sqlite:a.db"));
}

}  // namespace
}  // namespace waybill::test
