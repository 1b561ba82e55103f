// check: the contract of monitoring plug-ins.

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("an empty store is ok, with performance data") {
  const Cli cli;
  cli.init();
  CHECK(cli.ok({"check"}) ==
        "WAYBILL OK - backlog 0, oldest 0s, dead 0 | "
        "backlog=0;10000;100000;0 oldest=0s;300;1800;0 dead=0;1;100;0\n");
}

TEST_CASE("each threshold warns and is critical at its value") {
  const Cli cli;
  cli.init();
  cli.put({event_json("dead")});
  cli.fail_all("boom");
  Json old = event_json("old");
  old["create_time"] = "2020-01-01T00:00:00Z";
  cli.put({old, event_json("young")});
  // No thresholds but those of the case: zero switches one off.
  const auto check = [&](std::vector<std::string> thresholds) {
    std::vector<std::string> words{"check"};
    for (const char* flag : {"--backlog-warn", "--backlog-crit", "--dead-warn", "--dead-crit"})
      if (std::find(thresholds.begin(), thresholds.end(), flag) == thresholds.end())
        words.insert(words.end(), {flag, "0"});
    for (const char* flag : {"--age-warn", "--age-crit"})
      if (std::find(thresholds.begin(), thresholds.end(), flag) == thresholds.end())
        words.insert(words.end(), {flag, "0s"});
    words.insert(words.end(), thresholds.begin(), thresholds.end());
    return cli.on_store(words);
  };
  CHECK(check({}).exit_code == 0);
  CHECK(check({"--backlog-warn", "3"}).exit_code == 0);
  CHECK(check({"--backlog-warn", "2"}).exit_code == 1);
  CHECK(check({"--backlog-warn", "1", "--backlog-crit", "2"}).exit_code == 2);
  CHECK(check({"--dead-warn", "1"}).exit_code == 1);
  CHECK(check({"--dead-crit", "1"}).exit_code == 2);
  CHECK(check({"--age-warn", "365d"}).exit_code == 1);
  const ProcessResult critical = check({"--age-crit", "365d", "--dead-warn", "1"});
  CHECK(critical.exit_code == 2);
  CHECK_THAT(critical.out, StartsWith("WAYBILL CRITICAL - ") && Contains("(CRITICAL)") && Contains("dead 1 (WARNING)"));
  const Json json = Json::parse(check({"--dead-warn", "1", "--json"}).out);
  CHECK(json.at("state") == "WARNING");
  CHECK(json.at("dead") == Json{{"value", 1}, {"warn", 1}, {"crit", 0}, {"state", "WARNING"}});
  CHECK(json.at("backlog").at("value") == 2);
}

TEST_CASE("what can't be asked is unknown, status 3, on standard output") {
  const Cli cli;
  const std::vector<std::vector<std::string>> questions{{"check", "--store", "sqlite:nowhere/a.db"},
                                                        {"check", "--store", "nonsense"},
                                                        {"check"},
                                                        {"check", "--backlog-wrn", "1"},
                                                        {"check", "--age-warn", "soon"}};
  for (const auto& words : questions) {
    const ProcessResult result = cli.run(words);
    CHECK(result.exit_code == 3);
    CHECK_THAT(result.out, StartsWith("WAYBILL UNKNOWN - "));
  }
}

}  // namespace
}  // namespace waybill::test
