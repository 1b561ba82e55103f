#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

TEST_CASE("put takes a file, - and standard input") {
  const Cli cli;
  cli.init();
  write_file(cli.path("in.ndjson"), ndjson({event_json("E1")}));
  CHECK(cli.on_store({"put", "in.ndjson"}).err == "put: 1 inserted, 0 duplicates, 0 conflicts, 0 refused\n");
  CHECK(cli.on_store({"put", "-"}, ndjson({event_json("E2")})).exit_code == 0);
  CHECK(cli.on_store({"put"}, ndjson({event_json("E3")})).exit_code == 0);
  CHECK(cli.stats().at("by_status").at("pending") == 3);
}

TEST_CASE("blank lines, CRLF and a last line without line feed are all right") {
  const Cli cli;
  cli.init();
  const std::string input = "\n" + event_json("E1").dump() + "\r\n\r\n  \t\n" + event_json("E2").dump();
  const ProcessResult result = cli.on_store({"put", "--json"}, input);
  CHECK(result.exit_code == 0);
  CHECK(Json::parse(result.out).at("inserted") == 2);
}

TEST_CASE("a bad line is reported with its number and reason, good lines of its batch are kept") {
  const Cli cli;
  cli.init();
  Json no_type = event_json("E3");
  no_type.erase("event_type");
  Json misspelt = event_json("E4");
  misspelt["agregate_id"] = "x";
  Json long_number = event_json(std::string(65, 'x'));
  Json delivered = event_json("E6");
  delivered["publish_status"] = 2;
  const std::string input = event_json("E1").dump() + "\n{\"event_no\":\n" + no_type.dump() + "\n" + misspelt.dump() +
                            "\n" + long_number.dump() + "\n" + delivered.dump() + "\n[]\n\xff\xfe\n" +
                            event_json("E9").dump() + "\n";
  const ProcessResult result = cli.on_store({"put", "--json"}, input);
  CHECK(result.exit_code == 3);
  const std::vector<std::pair<std::string, std::string>> reports{
      {"line 2: ", "JSON"},       {"line 3: ", "event_type"}, {"line 4: ", "agregate_id"}, {"line 5: ", "event_no"},
      {"line 6: ", "publish_st"}, {"line 7: ", "object"},     {"line 8: ", "JSON"}};
  for (const auto& [line, reason] : reports) {
    const auto at = result.err.find(line);
    INFO(result.err);
    REQUIRE(at != std::string::npos);
    CHECK_THAT(result.err.substr(at, result.err.find('\n', at) - at), Contains(reason));
  }
  CHECK_THAT(result.err, EndsWith("put: 2 inserted, 0 duplicates, 0 conflicts, 7 refused\n"));
  CHECK(Json::parse(result.out) ==
        Json{{"inserted", 2}, {"duplicates", 0}, {"conflicts", 0}, {"refused", 7}, {"complete", true}});
  CHECK(column(parse_lines(cli.ok({"list", "--json"})), "event_no") == std::vector<std::string>{"E1", "E9"});
}

TEST_CASE("the same input again is all duplicates and changes nothing, other content is a conflict") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1"), event_json("E2")});
  const std::string before = cli.ok({"list", "--json"});
  const ProcessResult again = cli.on_store({"put"}, ndjson({event_json("E1"), event_json("E2")}));
  CHECK(again.exit_code == 0);
  CHECK(again.err == "put: 0 inserted, 2 duplicates, 0 conflicts, 0 refused\n");
  Json other = event_json("E2");
  other["event_payload"] = {{"secret", "4711"}};
  const ProcessResult conflict = cli.on_store({"put"}, ndjson({event_json("E1"), other}));
  CHECK(conflict.exit_code == 3);
  CHECK(conflict.err ==
        "line 2: event E2 conflicts with the stored one: event_payload differs\n"
        "put: 0 inserted, 1 duplicates, 1 conflicts, 0 refused\n");
  CHECK(cli.ok({"list", "--json"}) == before);
}

TEST_CASE("CloudEvents come in, too") {
  const Cli cli;
  cli.init();
  const std::string line = R"({"specversion":"1.0","id":"C1","source":"shop","type":"ORDER_PAID",)"
                           R"("subject":"ORDER/4711","time":"2026-11-30T17:38:00Z","data":{"amount":12}})";
  const ProcessResult result = cli.on_store({"put", "--format", "cloudevents"}, line + "\n{\"id\":\"C2\"}\n");
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.err, Contains("line 2: ") && Contains("specversion"));
  const Json event = Json::parse(cli.ok({"show", "C1", "--json"}));
  CHECK(event.at("aggregate_type") == "ORDER");
  CHECK(event.at("aggregate_id") == "4711");
  CHECK(event.at("event_payload") == Json{{"amount", 12}});
  CHECK(event.at("create_time") == "2026-11-30T17:38:00.000000Z");
}

TEST_CASE("the store's URL sets the payload limit, and the report never shows the payload") {
  const Cli cli;
  cli.init();
  Json big = event_json("E2");
  big["event_payload"] = std::string(2000, 's');
  const auto put = [&](const char* url) {
    return cli.run({"put", "--store", url}, ndjson({event_json("E1"), big, event_json("E3")}));
  };
  const ProcessResult small = put("sqlite:a.db?max_payload=1000");
  CHECK(small.exit_code == 3);
  CHECK_THAT(small.err, Contains("line 2: ") && Contains("event_payload") && Contains("1000") && Contains("2002"));
  CHECK(small.err.find("sss") == std::string::npos);
  CHECK_THAT(small.err, EndsWith("put: 2 inserted, 0 duplicates, 0 conflicts, 1 refused\n"));
  CHECK(put("sqlite:a.db?max_payload=4KiB").exit_code == 0);
}

TEST_CASE("a line without end costs a message, not memory") {
  const Cli cli;
  cli.init();
  const std::string input = event_json("E1").dump() + "\n" + std::string(9U << 20, 'x') + "\n" +
                            event_json("E3").dump() + "\n" + std::string(9U << 20, 'y');
  const ProcessResult result = cli.on_store({"put"}, input);
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.err, Contains("line 2: longer than") && Contains("line 4: longer than"));
  CHECK_THAT(result.err, EndsWith("put: 2 inserted, 0 duplicates, 0 conflicts, 2 refused\n"));
}

TEST_CASE("lines that are as long as an escaped payload may be are taken") {
  const Cli cli;
  cli.init();
  std::string escaped;
  for (int count = 0; count < 1000; ++count) escaped += "\\u4e2d";
  const std::string line = R"({"event_no":"E1","aggregate_type":"O","aggregate_id":"1","event_type":"T",)"
                           R"("event_payload":")" +
                           escaped + "\"}\n";
  CHECK(cli.on_store({"put"}, line).exit_code == 0);
}

TEST_CASE("a full buffer stops put with what was written and the line to go on from") {
  const Cli cli;
  cli.init();
  std::vector<Json> events;
  for (int number = 1; number <= 10; ++number) events.push_back(event_json("E" + std::to_string(number)));
  const ProcessResult result =
      cli.run({"put", "--store", "sqlite:a.db?max_events=5", "--batch", "2", "--json"}, "\n" + ndjson(events));
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("waybill put: ") && Contains("4 inserted") && Contains("go on from line 6"));
  const Json summary = Json::parse(result.out);
  CHECK(summary.at("complete") == false);
  CHECK(summary.at("resume_line") == 6);
  CHECK(cli.stats().at("backlog") == 4);
}

TEST_CASE("a file that can't be read is a failure that names it") {
  const Cli cli;
  cli.init();
  const ProcessResult missing = cli.on_store({"put", "nowhere.ndjson"});
  CHECK(missing.exit_code == 1);
  CHECK_THAT(missing.err, Contains("nowhere.ndjson") && Contains("No such file"));
  CHECK(cli.on_store({"put", "."}).exit_code == 1);
}

TEST_CASE("progress is shown on a terminal and nowhere else") {
  const Cli cli;
  cli.init();
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  write_file(cli.path("in.ndjson"), ndjson({event_json("E1")}));
  const auto put = [&](const std::filesystem::path& errors) {
    ProcessOptions options;
    options.program = WAYBILL_COMMAND;
    options.arguments = {"put", "--store", "sqlite:a.db", "in.ndjson"};
    options.directory = cli.path("");
    options.errors = errors;
    CHECK(Process{options}.wait().exit_code == 0);
  };
  const int other_side = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);  // keeps what was written
  put(::ptsname(terminal));
  char shown[1000] = {};
  CHECK(::read(terminal, shown, sizeof shown - 1) > 0);
  CHECK_THAT(shown, Contains("\rput: 1 lines read") && Contains("put: 1 inserted"));
  put(cli.path("err"));
  CHECK(read_file(cli.path("err")) == "put: 0 inserted, 1 duplicates, 0 conflicts, 0 refused\n");
  ::close(other_side);
  ::close(terminal);
}

TEST_CASE("the flag --quiet keeps the summary back, not the reports") {
  const Cli cli;
  cli.init();
  const ProcessResult result = cli.on_store({"put", "--quiet"}, ndjson({event_json("E1")}) + "{\n");
  CHECK_THAT(result.err, Contains("line 2: "));
  CHECK(result.err.find("inserted") == std::string::npos);
}

TEST_CASE("what list prints as JSON can be put into another store") {
  const Cli cli;
  const Cli other;
  cli.init();
  other.init();
  Json event = event_json("E1");
  event["event_headers"] = {{"tenant", "t1"}};
  event["remark"] = "第一";
  cli.put({event});
  CHECK(other.on_store({"put"}, cli.ok({"list", "--json"})).exit_code == 0);
  CHECK(Json::parse(other.ok({"show", "E1", "--json"})).at("remark") == "第一");
}

}  // namespace
}  // namespace waybill::test
