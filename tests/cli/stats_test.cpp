#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("stats of an empty store") {
  const Cli cli;
  cli.init();
  CHECK(cli.stats() ==
        Json::parse(R"({"by_status":{"pending":0,"in_progress":0,"succeeded":0,"failed":0,"cancelled":0},"dead":0,
                        "backlog":0,"oldest_pending_age_s":null,"unroutable":null,
                        "archived":0,"purged":0,"dropped":0})"));
}

TEST_CASE("stats counts by status, dead events, backlog and the oldest pending event") {
  const Cli cli;
  cli.init();
  cli.put({event_json("dead")});
  cli.fail_all("boom");
  cli.put({event_json("retried")});
  cli.fail_all("boom", std::chrono::hours{1});
  Json old = event_json("old");
  old["create_time"] = "2020-01-01T00:00:00Z";
  cli.put({old, event_json("cancelled")});
  (void)cli.ok({"cancel", "cancelled"});
  const Json stats = cli.stats();
  CHECK(stats.at("by_status") ==
        Json::parse(R"({"pending":1,"in_progress":0,"succeeded":0,"failed":2,"cancelled":1})"));
  CHECK(stats.at("dead") == 1);
  CHECK(stats.at("backlog") == 2);
  CHECK(stats.at("oldest_pending_age_s").get<std::int64_t>() > 5 * 365 * 86400);
  const std::string text = cli.ok({"stats"});
  CHECK_THAT(text, Contains("failed            2  1 of them dead"));
  CHECK_THAT(text, Contains("no relay has run yet"));
}

TEST_CASE("stats can be asked by type, topic and time") {
  const Cli cli;
  cli.init();
  Json sent = event_json("E2");
  sent["event_type"] = "ORDER_SENT";
  sent["topic"] = "order.sent";
  sent["create_time"] = "2020-01-01T00:00:00Z";
  cli.put({event_json("E1"), sent});
  const auto pending = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"stats", "--json"});
    return Json::parse(cli.ok(words)).at("by_status").at("pending").get<int>();
  };
  CHECK(pending({}) == 2);
  CHECK(pending({"--type", "ORDER_SENT"}) == 1);
  CHECK(pending({"--topic", "order.paid"}) == 1);
  CHECK(pending({"--since", "1h"}) == 1);
  CHECK(pending({"--until", "1h"}) == 1);
  CHECK(pending({"--until", "1h", "--type", "ORDER_PAID"}) == 0);
}

TEST_CASE("stats counts the unroutable by --to, else by the routes of the last relay") {
  const Cli cli;
  cli.init();
  Json bill = event_json("E2");
  bill["topic"] = "bill.sent";
  cli.put({event_json("E1"), bill});
  CHECK(Json::parse(cli.ok({"stats", "--json", "--to", "order.*=stdout:"})).at("unroutable") == 1);
  CHECK(Json::parse(cli.ok({"stats", "--json", "--to", "stdout:"})).at("unroutable") == 0);
  const ProcessResult relay = cli.on_store({"relay", "--to", "order.*=stdout:", "--drain"});
  CHECK(relay.exit_code == 0);
  CHECK_THAT(relay.err, Contains("1 event unroutable"));
  CHECK(cli.stats().at("unroutable") == 1);
  CHECK_THAT(cli.ok({"stats"}), Contains("no route takes them"));
}

}  // namespace
}  // namespace waybill::test
