#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "cli/cli_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

std::vector<Json> numbered(int count) {
  std::vector<Json> events;
  for (int number = 1; number <= count; ++number)
    events.push_back(event_json("E" + std::to_string(number), std::to_string(number % 5)));
  return events;
}

TEST_CASE("relay --drain delivers all that is due and says so") {
  const Cli cli;
  cli.init();
  cli.put(numbered(250));
  const ProcessResult result = cli.on_store({"relay", "--to", "stdout:", "--drain"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, EndsWith("delivered 250, failed 0, dead 0, left 0\n"));
  const auto lines = parse_lines(result.out);
  REQUIRE(lines.size() == 250);
  CHECK(lines[0].at("specversion") == "1.0");
  CHECK(lines[0].at("id") == "E1");
  CHECK(lines[0].at("data") == Json{{"no", "E1"}});
  CHECK(cli.stats().at("by_status").at("succeeded") == 250);
  CHECK(cli.on_store({"relay", "--to", "stdout:", "--drain"}).out.empty());
}

TEST_CASE("the format of a line is an option of the URL") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  const ProcessResult event = cli.on_store({"relay", "--to", "stdout:?format=event", "--drain"});
  CHECK(parse_lines(event.out).at(0).at("event_no") == "E1");
  cli.put({event_json("E2")});
  CHECK(cli.on_store({"relay", "--to", "stdout:?format=payload", "--drain"}).out == "{\"no\":\"E2\"}\n");
}

TEST_CASE("only routed events are taken, the first matching route decides, --json gives the summary") {
  const Cli cli;
  cli.init();
  Json bill = event_json("bill");
  bill["topic"] = "bill.sent";
  Json http = event_json("http");
  http["publish_channel"] = "HTTP";
  cli.put({event_json("order"), bill, http});
  const ProcessResult result = cli.on_store(
      {"relay", "--to", "HTTP:*=stdout:?format=payload", "--to", "order.*=stdout:?format=event", "--drain", "--json"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("{\"no\":\"http\"}\n") && Contains("\"event_no\":\"order\""));
  CHECK(parse_lines(result.out).size() == 2);
  CHECK_THAT(result.err, Contains("1 event unroutable"));
  const auto start = result.err.find("{\"claimed\"");
  REQUIRE(start != std::string::npos);
  const Json summary = Json::parse(result.err.substr(start));
  CHECK(summary.at("delivered") == 2);
  CHECK(summary.at("left") == 1);
  CHECK(Json::parse(cli.ok({"show", "bill", "--json"})).at("publish_status") == 0);
}

TEST_CASE("several workers deliver each event once, whole lines, in order per aggregate when asked") {
  const Cli cli;
  cli.init();
  cli.put(numbered(500));
  const ProcessResult result =
      cli.on_store({"relay", "--to", "stdout:", "--drain", "--workers", "4", "--batch", "7", "--order", "aggregate"});
  CHECK(result.exit_code == 0);
  std::map<std::string, int> last;
  const auto lines = parse_lines(result.out);
  CHECK(lines.size() == 500);
  for (const Json& line : lines) {
    const int number = std::stoi(line.at("id").get<std::string>().substr(1));
    int& before = last[line.at("subject")];
    CHECK(number > before);
    before = number;
  }
}

TEST_CASE("a reader that ends makes the relay end with a clear message and loses nothing") {
  const Cli cli;
  cli.init();
  cli.put(numbered(300));
  int fds[2];
  REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
  ProcessOptions options;
  options.program = WAYBILL_COMMAND;
  options.arguments = {"relay", "--store", "sqlite:" + cli.path("a.db").string(), "--to", "stdout:"};
  options.output_fd = fds[1];
  options.errors = cli.path("err");
  Process relay{options};
  ::close(fds[1]);
  char byte = 0;
  REQUIRE(::read(fds[0], &byte, 1) == 1);
  ::close(fds[0]);
  cli.put({event_json("later")});  // a relay that waits for work notices when it writes
  CHECK(relay.wait().exit_code == 1);
  CHECK_THAT(read_file(cli.path("err")), Contains("waybill relay: the reader of standard output is gone"));
  const Json stats = cli.stats();
  CHECK(stats.at("by_status").at("succeeded").get<int>() + stats.at("by_status").at("pending").get<int>() == 301);
  CHECK(stats.at("by_status").at("pending").get<int>() > 0);
  CHECK(column(parse_lines(cli.ok({"list", "--limit", "0", "--json"})), "retry_count") ==
        std::vector<std::string>(301, "0"));
}

TEST_CASE("a drain that ends with the destination down is a failure and counts no attempt") {
  const Cli cli;
  cli.init();
  cli.put(numbered(3));
  const ProcessResult result =
      cli.run({"relay", "--store", "sqlite:a.db", "--to", "stdout:", "--drain"}, {}, "/dev/full");
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("No space left on device") && Contains("delivered 0, failed 0, dead 0, left 3"));
  CHECK(column(parse_lines(cli.ok({"list", "--json"})), "retry_count") == std::vector<std::string>(3, "0"));
  CHECK(cli.on_store({"relay", "--to", "stdout:", "--drain"}).exit_code == 0);
}

TEST_CASE("a relay delivers what comes while it runs, and SIGTERM ends it with status 0") {
  const Cli cli;
  cli.init();
  const auto relay = cli.start({"relay", "--to", "stdout:?format=payload"});
  for (int number = 1; number <= 3; ++number) {
    const std::string name = "E" + std::to_string(number);
    cli.put({event_json(name)});
    REQUIRE(eventually([&] { return read_file(cli.path("out")).find(name) != std::string::npos; }));
  }
  relay->signal(SIGTERM);
  const ProcessEnd end = relay->wait();
  CHECK(end.exit_code == 0);
  CHECK_FALSE(end.timed_out);
  CHECK_THAT(read_file(cli.path("err")), EndsWith("delivered 3, failed 0, dead 0, left 0\n"));
  CHECK(cli.stats().at("by_status").at("succeeded") == 3);
}

TEST_CASE("a relay whose reader stands still ends within the shutdown deadline and gives its events back") {
  const Cli cli;
  cli.init();
  Json big = event_json("big");
  big["event_payload"] = std::string(200000, 'x');
  cli.put({big, event_json("small")});
  int fds[2];
  REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
  ProcessOptions options;
  options.program = WAYBILL_COMMAND;
  options.arguments = {
      "relay", "--store", "sqlite:" + cli.path("a.db").string(), "--to", "stdout:", "--shutdown-deadline", "200ms"};
  options.output_fd = fds[1];
  options.errors = cli.path("err");
  Process relay{options};
  char byte = 0;
  REQUIRE(::read(fds[0], &byte, 1) == 1);  // it is writing now, and fills the pipe
  relay.signal(SIGTERM);
  const ProcessEnd end = relay.wait(std::chrono::seconds{15});
  CHECK_FALSE(end.timed_out);
  CHECK(end.exit_code == 0);
  CHECK_THAT(read_file(cli.path("err")), Contains("shutdown deadline"));
  ::close(fds[0]);
  ::close(fds[1]);
  CHECK(cli.stats().at("by_status").at("pending") == 2);
}

TEST_CASE("dead events of the types named are cancelled, critical ones never") {
  const Cli cli;
  cli.init();
  Json critical = event_json("critical");
  critical["event_type"] = "ORDER_REFUNDED";
  cli.put({event_json("plain"), critical});
  // Leases that ran out on events without budget: the relay's recovery makes them dead.
  {
    const auto store = cli.open();
    ClaimRequest request;
    request.owner = "crashed";
    std::vector<Token> tokens;
    for (int round = 0; round < 5; ++round) {
      std::vector<Settlement> settlements;
      tokens.clear();
      for (const Event& event : store->claim(request).events) {
        tokens.push_back(token_of(event));
        settlements.push_back({tokens.back(), Command::fail, store->now(), "boom", false});
      }
      REQUIRE(tokens.size() == 2);
      if (round < 4) (void)store->settle(settlements);
    }
    (void)store->extend(tokens, std::chrono::microseconds{1});
  }
  const ProcessResult result =
      cli.on_store({"relay", "--to", "stdout:", "--drain", "--cancel-dead", "ORDER_*", "--critical", "*_REFUNDED"});
  CHECK(result.exit_code == 0);
  CHECK(result.out.empty());
  CHECK(Json::parse(cli.ok({"show", "plain", "--json"})).at("publish_status") == 4);
  CHECK(Json::parse(cli.ok({"show", "critical", "--json"})).at("publish_status") == 3);
}

TEST_CASE("a closed standard output is no place to deliver to") {
  const Cli cli;
  cli.init();
  cli.put({event_json("E1")});
  ProcessOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", std::string{WAYBILL_COMMAND} + " relay --store sqlite:a.db --to stdout: --drain >&-"};
  options.directory = cli.path("");
  const ProcessResult result = run_process(options, {}, cli.path(""));
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("standard output is closed"));
  CHECK(cli.stats().at("by_status").at("pending") == 1);
}

}  // namespace
}  // namespace waybill::test
