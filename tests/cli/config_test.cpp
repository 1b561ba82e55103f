// --config: the file says what flags say, flags win, and nothing in it is silently ignored.

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

ProcessResult run_with(const Cli& cli, const std::string& toml, std::vector<std::string> words) {
  write_file(cli.path("waybill.toml"), toml);
  words.insert(words.end(), {"--config", "waybill.toml"});
  return cli.run(words);
}

TEST_CASE("the file gives what the command line does not, its own table before the top level") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1"), event_json("E2"), event_json("E3")});
  const std::string toml = R"(
store = "sqlite:a.db"
limit = 1
[list]
limit = 2
newest = true
json = true
)";
  const ProcessResult from_file = run_with(cli, toml, {"list"});
  CHECK(from_file.exit_code == 0);
  CHECK(column(parse_lines(from_file.out), "event_no") == std::vector<std::string>{"E3", "E2"});
  const ProcessResult flag_wins = run_with(cli, toml, {"list", "--limit", "1"});
  CHECK(column(parse_lines(flag_wins.out), "event_no") == std::vector<std::string>{"E3"});
}

TEST_CASE("lists, durations and choices come out of the file as from flags") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  const std::string toml = R"(
store = "sqlite:a.db"
[relay]
to = ["nothing.*=stdout:", "order.*=stdout:?format=payload"]
drain = true
order = "aggregate"
lease = "3s"
batch = 10
[list]
status = ["pending", "succeeded"]
)";
  const ProcessResult relay = run_with(cli, toml, {"relay"});
  INFO(relay.err);
  CHECK(relay.exit_code == 0);
  CHECK(parse_lines(relay.out) == std::vector<Json>{{{"no", "E1"}}});
  CHECK_THAT(run_with(cli, toml, {"list"}).out, Contains("E1"));
}

TEST_CASE("flags replace a list of the file, they do not add to it") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  const std::string toml = "store = 'sqlite:a.db'\n[relay]\nto = ['order.*=stdout:']\n";
  const ProcessResult relay = run_with(cli, toml, {"relay", "--drain", "--to", "else.*=stdout:"});
  CHECK(relay.exit_code == 0);
  CHECK(relay.out.empty());
}

TEST_CASE("stats reads the relay's routes") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  const std::string toml = "store = 'sqlite:a.db'\n[relay]\nto = ['bill.*=stdout:']\n";
  const Json stats = Json::parse(run_with(cli, toml, {"stats", "--json"}).out);
  CHECK(stats.at("unroutable") == 1);
}

TEST_CASE("what the file says wrong is wrong usage, told with file, line and the nearest name") {
  const Cli cli;
  cli.init();
  const std::vector<std::pair<std::string, std::vector<std::string>>> mistakes{
      {"stor = 'sqlite:a.db'\n", {"waybill.toml:1", "'stor'", "did you mean 'store'?"}},
      {"store = 'sqlite:a.db'\n[relai]\nto = ['stdout:']\n", {"waybill.toml:2", "'relai'", "did you mean 'relay'?"}},
      {"store = 'sqlite:a.db'\n[relay]\nordr = 'none'\n", {"waybill.toml:3", "[relay]", "did you mean 'order'?"}},
      {"store = 'sqlite:a.db'\n[stats]\nlimit = 3\n", {"waybill.toml:3", "[stats]", "'limit'"}},
      {"store = 'sqlite:a.db'\n[list]\nlimit = 'many'\n", {"waybill.toml:3", "whole number"}},
      {"store = 'sqlite:a.db'\nstore = 'memory:'\n", {"waybill.toml:2"}},
      {"store = ['sqlite:a.db', 'memory:']\n", {"waybill.toml:1", "--store"}},
      {"store = { url = 'sqlite:a.db' }\n", {"waybill.toml:1", "store"}},
      {"store = \n", {"waybill.toml:1"}},
  };
  for (const auto& [toml, messages] : mistakes) {
    INFO(toml);
    const ProcessResult result = run_with(cli, toml, {"list"});
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    for (const std::string& message : messages) CHECK_THAT(result.err, Contains(message));
  }
}

TEST_CASE("a configuration file that is not there is wrong usage") {
  const ProcessResult result = Cli{}.run({"stats", "--config", "nowhere.toml"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("nowhere.toml"));
}

}  // namespace
}  // namespace waybill::test
