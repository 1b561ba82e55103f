// retry and cancel, by number and by filter.

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

std::vector<Json> numbered(int count) {
  std::vector<Json> events;
  for (int number = 1; number <= count; ++number) events.push_back(event_json("E" + std::to_string(number)));
  return events;
}

Json state(const Cli& cli, const std::string& event_no) { return Json::parse(cli.ok({"show", event_no, "--json"})); }

TEST_CASE("retry by number gives a dead event a fresh start") {
  const Cli cli;
  cli.init();
  cli.put(numbered(2));
  cli.fail_all("boom");
  CHECK(cli.ok({"retry", "E1"}) == "1 event requeued\n");
  CHECK(state(cli, "E1").at("publish_status") == 0);
  CHECK(state(cli, "E1").at("retry_count") == 0);
  CHECK(state(cli, "E2").at("publish_status") == 3);
  CHECK(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);
  CHECK(state(cli, "E1").at("publish_status") == 2);
}

TEST_CASE("numbers that can't be retried or cancelled are told one by one, the others are done") {
  const Cli cli;
  cli.init();
  cli.put(numbered(1));
  cli.fail_all("boom");
  cli.put({event_json("pending")});
  const ProcessResult retry = cli.on_store({"retry", "nobody", "pending", "E1", "--json"});
  CHECK(retry.exit_code == 1);
  CHECK_THAT(retry.err, Contains("nobody: there is no such event") && Contains("pending: it is pending"));
  CHECK(Json::parse(retry.out) == Json{{"requeued", 1}, {"failed", 2}, {"dry_run", false}});
  CHECK(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);
  const ProcessResult cancel = cli.on_store({"cancel", "E1"});
  CHECK(cancel.exit_code == 1);
  CHECK_THAT(cancel.err, Contains("E1: it is succeeded"));
}

TEST_CASE("retry and cancel by filter change what matches, in batches, and nothing else") {
  const Cli cli;
  cli.init();
  cli.put(numbered(25));
  cli.fail_all("boom");
  Json other = event_json("other");
  other["event_type"] = "ORDER_SENT";
  cli.put({other});
  CHECK(cli.ok({"retry", "--status", "dead", "--batch", "10", "--dry-run"}) == "25 events would be requeued\n");
  CHECK(cli.stats().at("dead") == 25);
  CHECK(cli.ok({"retry", "--status", "dead", "--batch", "10"}) == "25 events requeued\n");
  CHECK(cli.stats().at("by_status").at("pending") == 26);
  CHECK(cli.ok({"cancel", "--type", "ORDER_PAID", "--batch", "10", "--reason", "wrong type", "--dry-run"}) ==
        "25 events would be cancelled\n");
  CHECK(cli.ok({"cancel", "--type", "ORDER_PAID", "--batch", "10", "--reason", "wrong type"}) ==
        "25 events cancelled\n");
  CHECK(state(cli, "E25").at("fail_reason") == "wrong type");
  CHECK(state(cli, "other").at("publish_status") == 0);
}

TEST_CASE("a filter for a state the verb does not touch changes nothing") {
  const Cli cli;
  cli.init();
  cli.put(numbered(2));
  for (const char* flag : {"--dry-run", "--json"}) {
    CHECK(cli.on_store({"retry", "--status", "pending", flag}).exit_code == 0);
    CHECK(cli.stats().at("by_status").at("pending") == 2);
  }
  CHECK(cli.ok({"retry", "--all"}) == "0 events requeued\n");
}

TEST_CASE("the flag --all means every event the verb can touch") {
  const Cli cli;
  cli.init();
  cli.put(numbered(3));
  cli.fail_all("boom", std::chrono::hours{1});
  cli.put({event_json("pending")});
  CHECK(cli.ok({"retry", "--all"}) == "3 events requeued\n");
  CHECK(cli.ok({"cancel", "--all"}) == "4 events cancelled\n");
  CHECK(cli.stats().at("backlog") == 0);
}

}  // namespace
}  // namespace waybill::test
