#include <sstream>

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

Names listed(const Cli& cli, std::vector<std::string> words) {
  words.insert(words.begin(), "list");
  words.push_back("--json");
  return column(parse_lines(cli.ok(words)), "event_no");
}

/// Four events: E1 dead, E2 waiting for its next attempt, E3 and E4 pending.
void fill(const Cli& cli) {
  cli.init();
  cli.put({event_json("E1", "1")});
  cli.fail_all("refused");
  cli.put({event_json("E2", "octo-org/octo-repo")});
  cli.fail_all("timed out", std::chrono::hours{1});
  Json other = event_json("E3", "1");
  other["event_type"] = "ORDER_SENT";
  other["topic"] = "order.sent";
  other["publish_channel"] = "HTTP";
  other["trace_id"] = "t-3";
  other["create_time"] = "2020-01-01T00:00:00Z";
  Json later = event_json("E4", "4");
  later["next_retry_time"] = "2090-01-01T00:00:00Z";
  cli.put({other, later});
}

TEST_CASE("list finds events by every filter") {
  const Cli cli;
  fill(cli);
  CHECK(listed(cli, {}) == Names{"E1", "E2", "E3", "E4"});
  CHECK(listed(cli, {"--status", "failed"}) == Names{"E1", "E2"});
  CHECK(listed(cli, {"--status", "pending", "--status", "failed"}) == Names{"E1", "E2", "E3", "E4"});
  CHECK(listed(cli, {"--status", "dead"}) == Names{"E1"});
  CHECK(listed(cli, {"--status", "due"}) == Names{"E3"});
  CHECK(listed(cli, {"--status", "expired"}).empty());
  CHECK(listed(cli, {"--topic", "order.sent"}) == Names{"E3"});
  CHECK(listed(cli, {"--type", "ORDER_SENT"}) == Names{"E3"});
  CHECK(listed(cli, {"--channel", "HTTP"}) == Names{"E3"});
  CHECK(listed(cli, {"--trace", "t-3"}) == Names{"E3"});
  CHECK(listed(cli, {"--event-no", "E2"}) == Names{"E2"});
  CHECK(listed(cli, {"--aggregate", "ORDER"}) == Names{"E1", "E2", "E3", "E4"});
  CHECK(listed(cli, {"--aggregate", "ORDER/1"}) == Names{"E1", "E3"});
  CHECK(listed(cli, {"--aggregate", "ORDER/octo-org/octo-repo"}) == Names{"E2"});
  CHECK(listed(cli, {"--aggregate", "PAYMENT/1"}).empty());
  CHECK(listed(cli, {"--since", "1h"}) == Names{"E1", "E2", "E4"});
  CHECK(listed(cli, {"--until", "2020-01-01T00:00:01Z"}) == Names{"E3"});
  CHECK(listed(cli, {"--since", "2020-01-01T00:00:00Z", "--until", "2020-01-01T00:00:01Z"}) == Names{"E3"});
  CHECK(listed(cli, {"--older-than", "365d"}) == Names{"E3"});
  CHECK(listed(cli, {"--min-retries", "1"}) == Names{"E1", "E2"});
  CHECK(listed(cli, {"--status", "failed", "--aggregate", "ORDER/1"}) == Names{"E1"});
}

TEST_CASE("list pages by id in both directions") {
  const Cli cli;
  fill(cli);
  CHECK(listed(cli, {"--newest", "--limit", "2"}) == Names{"E4", "E3"});
  CHECK(listed(cli, {"--limit", "2"}) == Names{"E1", "E2"});
  const auto second = parse_lines(cli.ok({"list", "--limit", "2", "--json"})).back();
  CHECK(listed(cli, {"--after", second.at("id").get<std::string>()}) == Names{"E3", "E4"});
  CHECK_THAT(cli.on_store({"list", "--limit", "2"}).err, Contains("--after"));
}

TEST_CASE("list --limit 0 shows more than a page") {
  const Cli cli;
  cli.init();
  std::vector<Json> events;
  Names names;
  for (int number = 0; number < 1203; ++number) {
    names.push_back("E" + std::to_string(number));
    events.push_back(event_json(names.back()));
  }
  cli.put(events);
  CHECK(listed(cli, {"--limit", "0"}) == names);
  CHECK(listed(cli, {}).size() == 100);
  CHECK(listed(cli, {"--limit", "501"}).size() == 501);
}

TEST_CASE("list --json has all columns, the id as text, --no-payload leaves that out") {
  const Cli cli;
  fill(cli);
  const Json event = parse_lines(cli.ok({"list", "--status", "dead", "--json"})).at(0);
  CHECK(event.at("id").is_string());
  CHECK(event.at("publish_status") == 3);
  CHECK(event.at("fail_reason") == "refused");
  CHECK(event.at("event_payload") == Json{{"no", "E1"}});
  CHECK_FALSE(parse_lines(cli.ok({"list", "--json", "--no-payload"})).at(0).contains("event_payload"));
}

TEST_CASE("the table is aligned in characters, long text is cut and control characters are not printed") {
  const Cli cli;
  cli.init();
  Json odd = event_json("第一-\x1b[31mred", "1");
  odd["topic"] = std::string(60, 't');
  cli.put({event_json("E1"), odd});
  const std::string table = cli.ok({"list"});
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK_THAT(table, Contains("第一-?[31mred") && Contains("tttt…"));
  CHECK(table.find(std::string(60, 't')) == std::string::npos);
  std::vector<std::size_t> starts;
  std::istringstream lines{table};
  for (std::string line; std::getline(lines, line);) {
    std::size_t column = 0;
    const std::size_t at = std::min(line.find("ORDER/"), line.find("AGGREGATE"));
    for (const char c : line.substr(0, at)) column += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    starts.push_back(column);
  }
  CHECK(starts == std::vector<std::size_t>(3, starts.at(0)));
}

}  // namespace
}  // namespace waybill::test
