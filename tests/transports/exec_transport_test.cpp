// Programs as destinations: every way a run can end, and what the relay is told.

#include <csignal>
#include <fstream>
#include <thread>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "transports/sample_events.hpp"
#include "waybill/transports/builtin.hpp"
#include "waybill/transports/exec.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Kind = Outcome::Kind;

ExecOptions shell(const std::string& script) {
  ExecOptions options;
  options.command = {"sh", "-c", script};
  return options;
}

Outcome run(const ExecOptions& options, const Event& event = sample_event("E1", "1"), Duration budget = 20s) {
  const std::vector<Outcome> outcomes = make_exec_transport(options)->deliver({&event, 1}, budget);
  REQUIRE(outcomes.size() == 1);
  return outcomes.front();
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST_CASE("exec: the exit status says what became of the event") {
  CHECK(run(shell("exit 0")).kind == Kind::delivered);
  CHECK(run(shell("exit 75")).kind == Kind::retry);
  CHECK(run(shell("exit 1")).kind == Kind::retry);
  ExecOptions strict = shell("exit 1");
  strict.reject_others = true;
  CHECK(run(strict).kind == Kind::rejected);
  strict.command.back() = "exit 75";
  CHECK(run(strict).kind == Kind::retry);
  CHECK(run(shell("kill -TERM $$")).kind == Kind::retry);
}

TEST_CASE("exec: the reason has the status and the end of what the program said") {
  const Outcome outcome = run(shell("echo to standard output; echo 'card refused' >&2; exit 3"));
  CHECK(outcome.reason == "sh ended with status 3: to standard output card refused");
  const Outcome killed = run(shell("echo before; kill -KILL $$"));
  CHECK(killed.reason == "sh was ended by signal 9: before");
  const Outcome wordy = run(shell("yes a long line | head -c 3000000; echo the end; exit 4"));
  CHECK_THAT(wordy.reason, Contains("status 4") && Contains("the end"));
  CHECK(wordy.reason.size() < 1000);
}

TEST_CASE("exec: a program that can't be started makes the destination unavailable") {
  ExecOptions options;
  options.command = {"/nowhere/at-all"};
  const Outcome outcome = run(options);
  CHECK(outcome.kind == Kind::unavailable);
  CHECK_THAT(outcome.reason, Contains("/nowhere/at-all") && Contains("No such file"));
  CHECK_THROWS_AS(make_exec_transport({}), ConfigError);
}

TEST_CASE("exec: the event is on standard input and in the environment") {
  const TempDir folder;
  const std::string out = (folder.path() / "out").string();
  Event event = sample_event("E1", "1");
  event.retry_count = 2;
  event.event_payload = R"({"emoji":"😀"})";
  ExecOptions options = shell("cat > '" + out +
                              "'; echo \"$WAYBILL_EVENT_NO $WAYBILL_EVENT_TYPE "
                              "$WAYBILL_AGGREGATE_TYPE/$WAYBILL_AGGREGATE_ID $WAYBILL_ATTEMPT\" >> '" +
                              out + "'");
  options.format = LineFormat::payload;
  REQUIRE(run(options, event).kind == Kind::delivered);
  CHECK(text_of(out) ==
        "{\"emoji\":\"😀\"}\nE1 " + event.event_type + " " + event.aggregate_type + "/" + event.aggregate_id + " 3\n");
}

TEST_CASE("exec: a program need not read its input, and large input does not stop anybody") {
  Event event = sample_event("E1", "1");
  event.event_payload = "\"" + std::string(900'000, 'x') + "\"";
  CHECK(run(shell("exit 0"), event).kind == Kind::delivered);
  CHECK(run(shell("exec <&-; sleep 0.2; exit 0"), event).kind == Kind::delivered);
  CHECK(run(shell("test $(wc -c) -gt 900000"), event).kind == Kind::delivered);
  CHECK(run(shell("cat; cat >&2; exit 0"), event).kind == Kind::delivered);
}

TEST_CASE("exec: a run beyond its time is killed, and its children with it") {
  const TempDir folder;
  const std::string file = (folder.path() / "pid").string();
  ExecOptions options = shell("sleep 1000 & echo $! > '" + file + "'; echo working; wait");
  options.time_limit = 300ms;
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run(options);
  CHECK(std::chrono::steady_clock::now() - start < 10s);
  CHECK(outcome.kind == Kind::retry);
  CHECK(outcome.reason == "sh took longer than 300ms and was killed: working");
  const pid_t child = std::stoi(text_of(file));
  bool gone = false;
  for (int i = 0; i < 1000 && !gone; ++i) {
    // A zombie counts as gone: whoever is init here may be slow to reap it.
    const std::string stat = text_of("/proc/" + std::to_string(child) + "/stat");
    gone = stat.empty() || stat.find(") Z") != std::string::npos;
    if (!gone) std::this_thread::sleep_for(10ms);
  }
  CHECK(gone);
}

TEST_CASE("exec: a child that lives on with the output open does not hold the relay up") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(run(shell("sleep 5 & exit 0")).kind == Kind::delivered);
  CHECK(std::chrono::steady_clock::now() - start < 4s);
}

TEST_CASE("exec: events the batch has no time for are not attempted") {
  const std::vector<Event> events{sample_event("E1", "1"), sample_event("E2", "2"), sample_event("E3", "3")};
  const auto outcomes = make_exec_transport(shell("sleep 1.2"))->deliver(events, 2s);
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].kind == Kind::delivered);
  CHECK(outcomes[1].kind == Kind::not_attempted);
  CHECK(outcomes[2].kind == Kind::not_attempted);
}

TEST_CASE("exec: a program starts with signals as usual, whatever this process blocks") {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ExecOptions options;
  options.command = {"grep", "-q", "SigBlk:\t0000000000000000",
                     "/proc/self/status"};  // a shell would clear them itself
  const Outcome outcome = run(options);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(outcome.kind == Kind::delivered);
}

TEST_CASE("exec: the URL says program, arguments and options") {
  TransportRegistry registry("transport");
  register_builtin_transports(registry);
  const Event event = sample_event("E1", "1");
  const auto outcome_of = [&](const std::string& url) { return registry.open(url)->deliver({&event, 1}, 20s).front(); };
  CHECK(outcome_of("exec:true").kind == Kind::delivered);
  CHECK(outcome_of("exec:test  -n  text").kind == Kind::delivered);
  CHECK(outcome_of("exec:false?other=reject").kind == Kind::rejected);
  CHECK(outcome_of("exec:sleep 30?timeout=200ms").kind == Kind::retry);
  CHECK_THROWS_AS(registry.open("exec:"), ConfigError);
  CHECK_THROWS_AS(registry.open("exec://host/program"), ConfigError);
  CHECK_THROWS_WITH(registry.open("exec:true?timeot=1s"), Contains("timeout"));
}

}  // namespace
}  // namespace waybill::test
