// What the command says to wrong words, and to a standard output that takes nothing.

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

constexpr const char* kVerbs[] = {"init",   "put",     "relay", "work",   "list",  "show",   "stats", "retry",
                                  "cancel", "archive", "purge", "rollup", "check", "doctor", "bench", "urls"};

TEST_CASE("every verb has a help text with examples and the common flags") {
  const Cli cli;
  for (const std::string verb : kVerbs) {
    INFO(verb);
    const ProcessResult help = cli.run({verb, "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.err.empty());
    CHECK_THAT(help.out, Contains("Examples:\n  waybill " + verb));
    for (const char* flag : {"--store", "--json", "--config"}) CHECK_THAT(help.out, Contains(flag));
    CHECK(cli.run({"help", verb}).out == help.out);
  }
}

TEST_CASE("the overview lists every verb, without a verb it is wrong usage") {
  const Cli cli;
  const ProcessResult help = cli.run({"help"});
  CHECK(help.exit_code == 0);
  for (const std::string verb : kVerbs) CHECK_THAT(help.out, Contains("\n  " + verb + " "));
  CHECK(cli.run({"--help"}).out == help.out);
  CHECK(cli.run({}).exit_code == 2);
}

TEST_CASE("the flag --version says which") {
  const ProcessResult result = Cli{}.run({"--version"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, StartsWith("waybill ") && Contains("."));
}

TEST_CASE("an unknown verb or flag is wrong usage, and the message names the nearest") {
  const Cli cli;
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"stts"}, "did you mean 'stats'?"},
      {{"xyzzy"}, "waybill help"},
      {{"--store", "memory:", "stats"}, "flags stand behind the verb"},
      {{"help", "stts"}, "did you mean 'stats'?"},
      {{"stats", "--stor", "memory:"}, "did you mean '--store'?"},
      {{"relay", "--ordr=aggregate"}, "did you mean '--order'?"},
      {{"stats", "surplus"}, "unexpected argument 'surplus'"},
      {{"stats", "--store"}, "--store"},
  };
  for (const auto& [words, message] : mistakes) {
    const ProcessResult result = cli.run(words);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, StartsWith("waybill") && Contains(message));
  }
}

TEST_CASE("values that do not fit are wrong usage, and the message says what would") {
  const Cli cli;
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"relay", "--lease", "5parsecs"}, "250ms, 2s"},
      {{"relay", "--order", "random"}, "aggregate"},
      {{"relay", "--batch", "0"}, "from 1 to"},
      {{"relay", "--batch", "-1"}, "--batch"},
      {{"relay", "--workers", "many"}, "whole number"},
      {{"list", "--since", "yesterday"}, "2026-11-30T17:38:00Z"},
      {{"list", "--status", "dead", "--status", "failed"}, "stands alone"},
      {{"list", "--status", "lost"}, "expired"},
      {{"list", "--topic", ""}, "must not be empty"},
      {{"list", "--after", "x"}, "no id"},
      {{"put", "--format", "xml"}, "cloudevents"},
      {{"init", "--indexes", "none"}, "lean"},
      {{"show"}, "EVENT_NO"},
      {{"archive"}, "--older-than"},
      {{"purge", "--older-than", "7d", "--before", "2026-01-01T00:00:00Z"}, "either"},
      {{"retry"}, "--all"},
      {{"cancel", "E1", "--all"}, "not both"},
      {{"relay"}, "--to"},
      {{"relay", "--to", "stdot:"}, "stdout"},
      {{"relay", "--to", "order.*=stdot:"}, "stdout"},
      {{"relay", "--to", "http://localhost/?a=b"}, "unknown transport scheme 'http'"},
      {{"relay", "--to", "stdout:?format=xml"}, "cloudevents"},
      {{"relay", "--to", "=stdout:"}, "empty"},
      {{"relay", "--to", "handler:"}, "registered none"},
      {{"relay", "--to", "stdout:", "--retry", "soon"}, "soon"},
      {{"relay", "--to", "stdout:", "--lease", "0s"}, "--lease: 0s is not from 10ms to 1d"},
      {{"relay", "--to", "stdout:", "--poll", "0s"}, "--poll"},
      {{"list", "--older-than", "99999d"}, "--older-than"},
  };
  cli.init();
  for (const auto& [words, message] : mistakes) {
    INFO(words[0] << " " << (words.size() > 1 ? words[1] : ""));
    const ProcessResult result = cli.on_store(words);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, StartsWith("waybill " + words.front() + ": ") && Contains(message));
  }
}

TEST_CASE("a wrong store URL is wrong usage and shows no password") {
  const Cli cli;
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"", "--store"},
      {"a.db", "scheme"},
      {"mysqll://root:hunter2@localhost/db", "this build knows: mariadb, memory, mysql, sqlite"},
      {"sqlite:", "path"},
      {"sqlite:a.db?synchronus=full", "synchronous"},
      {"sqlite:a.db?synchronous=maybe", "normal"},
      {"sqlite://host/a.db", "path"},
  };
  for (const auto& [url, message] : mistakes) {
    INFO(url);
    const ProcessResult result = cli.run({"stats", "--store", url});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, StartsWith("waybill stats: ") && Contains(message));
    CHECK(result.err.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("a store without tables says what to run") {
  const Cli cli;
  for (const std::string verb : {"stats", "list", "put"}) {
    const ProcessResult result = cli.on_store({verb});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, StartsWith("waybill " + verb + ": ") && Contains("waybill init --store sqlite:a.db"));
  }
}

TEST_CASE("a result that can't be written is a failure") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  const std::vector<std::vector<std::string>> commands{{"list", "--store", "sqlite:a.db"},
                                                       {"stats", "--store", "sqlite:a.db"},
                                                       {"help"},
                                                       {"--version"},
                                                       {"list", "--help"}};
  for (const auto& words : commands) {
    const ProcessResult result = cli.run(words, {}, "/dev/full");
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, Contains("could not write to standard output"));
  }
}

TEST_CASE("urls lists the stores and transports of this build with their options") {
  const Cli cli;
  const ProcessResult text = cli.run({"urls"});
  CHECK(text.exit_code == 0);
  for (const char* word : {"memory:", "sqlite:PATH", "stdout:", "handler:", "busy_timeout", "format"})
    CHECK_THAT(text.out, Contains(word));
  const auto lines = parse_lines(cli.run({"urls", "--json"}).out);
  CHECK(column(lines, "scheme") ==
        std::vector<std::string>{"mariadb", "memory", "mysql", "sqlite", "exec", "handler", "stdout"});
  CHECK(lines.back().at("options").at(0).at("name") == "format");
}

}  // namespace
}  // namespace waybill::test
