// The main job as a user does it: init, put, relay, stats, put again. On events of our own making: many types, unicode,
// numbers a double can't hold, nested payloads.

#include <map>
#include <random>

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

constexpr int kEvents = 329;

Json random_payload(std::mt19937& random, int depth = 0) {
  switch (std::uniform_int_distribution<int>{0, depth < 3 ? 7 : 5}(random)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>((random() << 31U) ^ random());
    case 3:
      return std::uniform_real_distribution<double>{-1e6, 1e6}(random);
    case 4:
      return "text " + std::to_string(random());
    case 5:
      return "订单 \"é\" \\ \n\t\u0001 🚚";
    case 6: {
      Json list = Json::array();
      for (auto count = random() % 4; count > 0; --count) list.push_back(random_payload(random, depth + 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (auto count = random() % 5; count > 0; --count)
        object["k" + std::to_string(count)] = random_payload(random, depth + 1);
      return object;
    }
  }
}

std::vector<Json> random_events(std::mt19937& random) {
  std::vector<Json> events;
  for (int number = 0; number < kEvents; ++number) {
    Json event = event_json("EVENT:" + std::to_string(number), "org/repo-" + std::to_string(random() % 20));
    event["event_type"] = "TYPE_" + std::to_string(random() % 50);
    event["event_payload"] = random_payload(random);
    if (random() % 3 == 0) event["event_headers"] = {{"tenant", std::to_string(random() % 3)}};
    if (random() % 4 == 0) event.erase("topic");
    events.push_back(std::move(event));
  }
  return events;
}

std::map<std::string, std::vector<std::string>> by_subject(const std::vector<Json>& lines) {
  std::map<std::string, std::vector<std::string>> numbers;
  for (const Json& line : lines) numbers[line.at("subject")].push_back(line.at("id"));
  return numbers;
}

TEST_CASE("init, put, relay in order, stats, put again: what went in comes out once, in order, unchanged") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  const auto events = random_events(random);
  const Cli cli;
  write_file(cli.path("in.ndjson"), ndjson(events));
  cli.init();
  CHECK(cli.on_store({"put", "in.ndjson"}).err == "put: 329 inserted, 0 duplicates, 0 conflicts, 0 refused\n");

  const ProcessResult relay = cli.on_store({"relay", "--to", "stdout:", "--order", "aggregate", "--drain"});
  CHECK(relay.exit_code == 0);
  CHECK(relay.err == "delivered 329, failed 0, dead 0, left 0\n");
  const auto lines = parse_lines(relay.out);
  REQUIRE(lines.size() == kEvents);
  std::map<std::string, std::vector<std::string>> expected;
  std::map<std::string, Json> payloads;
  for (const Json& event : events) {
    expected["ORDER/" + event.at("aggregate_id").get<std::string>()].push_back(event.at("event_no"));
    payloads[event.at("event_no")] = event.at("event_payload");
  }
  CHECK(by_subject(lines) == expected);
  for (const Json& line : lines) CHECK(line.at("data") == payloads.at(line.at("id")));

  const Json stats = cli.stats();
  CHECK(stats.at("by_status").at("succeeded") == kEvents);
  CHECK(stats.at("backlog") == 0);
  const std::string before = cli.ok({"list", "--limit", "0", "--json"});
  CHECK(cli.on_store({"put", "in.ndjson"}).err == "put: 0 inserted, 329 duplicates, 0 conflicts, 0 refused\n");
  CHECK(cli.ok({"list", "--limit", "0", "--json"}) == before);
}

}  // namespace
}  // namespace waybill::test
