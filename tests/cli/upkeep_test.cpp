// archive and purge.

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

/// Seven delivered events, one cancelled, one dead, one pending.
void fill(const Cli& cli) {
  cli.init();
  cli.put({event_json("dead", "d")});
  cli.fail_all("boom");
  std::vector<Json> events;
  for (int number = 1; number <= 7; ++number) events.push_back(event_json("E" + std::to_string(number)));
  cli.put(events);
  REQUIRE(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);
  cli.put({event_json("cancelled"), event_json("pending")});
  (void)cli.ok({"cancel", "cancelled"});
}

TEST_CASE("archive moves finished events in batches, show still finds them") {
  const Cli cli;
  fill(cli);
  CHECK(cli.ok({"archive", "--older-than", "1h"}) == "0 events archived\n");
  CHECK(cli.ok({"archive", "--older-than", "0s", "--batch", "3", "--pause", "1ms"}) == "8 events archived\n");
  const Json stats = cli.stats();
  CHECK(stats.at("archived") == 8);
  CHECK(stats.at("by_status") ==
        Json::parse(R"({"pending":1,"in_progress":0,"succeeded":0,"failed":1,"cancelled":0})"));
  CHECK_THAT(cli.ok({"show", "E1"}), Contains("succeeded") && Contains("moved to the archive"));
  const ProcessResult retry = cli.on_store({"retry", "E1"});
  CHECK(retry.exit_code == 1);
  CHECK_THAT(retry.err, Contains("in the archive"));
  CHECK(cli.on_store({"put"}, ndjson({event_json("E1")})).err ==
        "put: 0 inserted, 1 duplicates, 0 conflicts, 0 refused\n");
}

TEST_CASE("purge removes finished events for good, archived or not, and never others") {
  const Cli cli;
  fill(cli);
  (void)cli.ok({"archive", "--older-than", "0s"});
  cli.put({event_json("late")});
  REQUIRE(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);  // "late" and "pending"
  const Json purged = Json::parse(cli.ok({"purge", "--older-than", "0s", "--batch", "4", "--json"}));
  CHECK(purged.at("purged") == 10);
  const Json stats = cli.stats();
  CHECK(stats.at("purged") == 10);
  CHECK(stats.at("archived") == 0);
  CHECK(stats.at("dead") == 1);
  CHECK(cli.on_store({"show", "E1"}).exit_code == 1);
}

TEST_CASE("the flag --before takes a point in time") {
  const Cli cli;
  fill(cli);
  CHECK(cli.ok({"purge", "--before", "2020-01-01T00:00:00Z"}) == "0 events purged\n");
  CHECK(cli.ok({"purge", "--before", "2090-01-01T00:00:00Z"}) == "8 events purged\n");
}

}  // namespace
}  // namespace waybill::test
