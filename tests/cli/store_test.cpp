// init and doctor, and stores that are not as they should be.

#include <unistd.h>

#include "cli/cli_fixture.hpp"
#include "support/manual_clock.hpp"
#include "waybill/backends/sqlite.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("init again changes nothing") {
  const Cli cli;
  CHECK(cli.on_store({"init"}).err == "init: sqlite:a.db is ready\n");
  cli.put({event_json("E1")});
  CHECK(Json::parse(cli.ok({"init", "--json"})) == Json{{"store", "sqlite:a.db"}, {"ready", true}});
  CHECK(cli.stats().at("by_status").at("pending") == 1);
}

TEST_CASE("init --print-sql prints the tables and creates nothing") {
  const Cli cli;
  const std::string lean = cli.ok({"init", "--print-sql"});
  CHECK_THAT(lean, Contains("biz_outbox_event") && Contains("CREATE TABLE"));
  CHECK_FALSE(std::filesystem::exists(cli.path("a.db")));
  CHECK(cli.ok({"init", "--print-sql", "--indexes", "full"}).size() > lean.size());
  CHECK(cli.run({"init", "--print-sql", "--store", "memory:"}).exit_code == 2);
}

TEST_CASE("init --indexes full adds to what is there") {
  const Cli cli;
  cli.init();
  (void)cli.ok({"init", "--indexes", "full"});
  cli.put({event_json("E1")});
  CHECK(cli.stats().at("by_status").at("pending") == 1);
  CHECK(cli.run({"init", "--store", "sqlite:b.db?indexes=lean", "--indexes", "full"}).exit_code == 0);
}

TEST_CASE("init where no file can be is a failure that names it") {
  const Cli cli;
  const ProcessResult result = cli.run({"init", "--store", "sqlite:nowhere/a.db"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("waybill init: ") && Contains("nowhere/a.db"));
}

TEST_CASE("memory: needs no tables and keeps nothing") {
  const Cli cli;
  CHECK(cli.run({"init", "--store", "memory:"}).exit_code == 0);
  CHECK(cli.run({"put", "--store", "memory:"}, ndjson({event_json("E1")})).exit_code == 0);
  const ProcessResult stats = cli.run({"stats", "--store", "memory:", "--json"});
  CHECK(Json::parse(stats.out).at("backlog") == 0);
  CHECK(cli.run({"relay", "--store", "memory:", "--to", "stdout:", "--drain"}).exit_code == 0);
}

TEST_CASE("doctor finds a good store good") {
  const Cli cli;
  cli.init();
  CHECK_THAT(cli.ok({"doctor"}), Contains("schema"));
  for (const Json& finding : parse_lines(cli.ok({"doctor", "--json"}))) {
    INFO(finding.dump());
    CHECK(finding.at("level") != "error");
    CHECK_FALSE(finding.at("name").get<std::string>().empty());
  }
}

Json doctor_says(const Cli& cli, const std::string& name) {
  for (Json& finding : parse_lines(cli.ok({"doctor", "--json"})))
    if (finding.at("name") == name) return std::move(finding);
  return {};
}

TEST_CASE("doctor tells of old, dead and unroutable events, each with what to do") {
  const Cli cli;
  cli.init();
  CHECK(doctor_says(cli, "backlog").at("level") == "ok");
  CHECK(doctor_says(cli, "dead").at("level") == "ok");
  Json old = event_json("E-old");
  old["create_time"] = "2020-01-01T00:00:00Z";
  cli.put({event_json("E-dead")});
  cli.fail_all("refused for good");
  cli.put({old});
  (void)cli.ok({"relay", "--to", "nothing.like.it=stdout:", "--drain"});
  for (const char* name : {"backlog", "dead", "routes"}) {
    const Json finding = doctor_says(cli, name);
    INFO(finding.dump());
    CHECK(finding.at("level") == "warning");
    CHECK_FALSE(finding.at("advice").get<std::string>().empty());
  }
  CHECK_THAT(doctor_says(cli, "backlog").at("detail").get<std::string>(), Contains("2020-01-01"));
}

TEST_CASE("doctor tells of an event that is in progress for hours") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  CHECK(doctor_says(cli, "in-progress").at("level") == "ok");
  const auto clock = std::make_shared<ManualClock>();
  clock->set(SystemClock{}.now() - std::chrono::hours{2});
  SqliteOptions options;
  options.path = cli.path("a.db").string();
  options.clock = clock;
  ClaimRequest request;
  request.owner = "relay-of-old";
  request.lease = std::chrono::hours{1000};
  REQUIRE(open_sqlite(options)->claim(request).events.size() == 1);
  const Json finding = doctor_says(cli, "in-progress");
  CHECK(finding.at("level") == "warning");
  CHECK_THAT(finding.at("detail").get<std::string>(), Contains("relay-of-old"));
}

TEST_CASE("doctor reports a store it can't open as an error, with what to do") {
  const Cli cli;
  const ProcessResult missing = cli.on_store({"doctor"});
  CHECK(missing.exit_code == 1);
  CHECK_THAT(missing.out, Contains("error") && Contains("waybill init --store sqlite:a.db"));
  write_file(cli.path("a.db"), std::string(8192, 'x'));
  const ProcessResult damaged = cli.on_store({"doctor", "--json"});
  CHECK(damaged.exit_code == 1);
  CHECK(parse_lines(damaged.out).at(0).at("level") == "error");
}

TEST_CASE("a file that is no database is a failure for every verb") {
  const Cli cli;
  write_file(cli.path("a.db"), std::string(8192, 'x'));
  for (const auto& words : {std::vector<std::string>{"stats"},
                            {"list"},
                            {"show", "E1"},
                            {"put"},
                            {"retry", "--all"},
                            {"cancel", "E1"},
                            {"archive", "--older-than", "1d"},
                            {"purge", "--older-than", "1d"},
                            {"rollup"},
                            {"stats", "--daily"},
                            {"relay", "--to", "stdout:", "--drain"},
                            {"init"}}) {
    INFO(words[0]);
    const ProcessResult result = cli.on_store(words);
    CHECK(result.exit_code == 1);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains("waybill " + words[0] + ": "));
  }
}

TEST_CASE("questions work on a file one may not write, changes say why they don't") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  namespace fs = std::filesystem;
  fs::permissions(cli.path("a.db"), fs::perms::owner_read);
  CHECK(cli.stats().at("by_status").at("pending") == 1);
  // root may write everything
  if (::geteuid() != 0) CHECK(cli.on_store({"cancel", "E1"}).exit_code == 1);
  fs::permissions(cli.path("a.db"), fs::perms::owner_all);
}

}  // namespace
}  // namespace waybill::test
