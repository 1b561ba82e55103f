// What becomes of the events a relay holds when it is killed, or stands still for longer than its lease.

#include <algorithm>
#include <csignal>

#include "crash/audit.hpp"
#include "crash/pipe.hpp"
#include "crash/site.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kBatch = 10;
constexpr milliseconds kLease{3000};
constexpr milliseconds kRecovery{200};
// What a busy machine may add: wake-up, claim, delivery and the test's own looks.
constexpr milliseconds kSlack{2500};

// A batch of these does not fit into a pipe: a relay whose reader stands still is caught in the middle of a delivery.
constexpr std::size_t kBigPayload = 20000;

Words timing(Words more) {
  Words words{"--lease", "3s", "--recovery", "200ms", "--batch", std::to_string(kBatch), "--order", "aggregate"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Starts a relay that claims all there is and is caught in the delivery; ends well before it would give up (two
/// thirds of the lease).
std::unique_ptr<Process> start_caught(const Site& site, const std::string& name, Pipe& pipe) {
  ProcessOptions options = site.relay(name, timing({}));
  options.output_fd = pipe.writer();
  auto relay = std::make_unique<Process>(options);
  pipe.close_writer();
  wait_for_books(site, "a batch in progress", [](const Books& books) { return books.in_progress == kBatch; });
  return relay;
}

std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("a killed relay's events move again within one lease and one recovery interval") {
  const Site site;
  // An idle relay, whose poll interval is far longer than what is measured. The first event says that it is up.
  Process heir{site.relay("heir", timing({"--poll", "60s"}))};
  site.run({"put"}, to_lines({input_event("hello", "a0")}));
  wait_for_books(site, "the heir is up", [](const Books& books) { return books.succeeded == 1; });
  heir.signal(SIGSTOP);

  site.run({"put"}, to_lines(input_events(kBatch, 4, kBigPayload)));
  Pipe pipe;
  const auto victim = start_caught(site, "victim", pipe);
  REQUIRE(eventually([&] { return pipe.waiting() > pipe.capacity() - 4096; }));  // it stands in the middle of a line
  victim->signal(SIGKILL);
  REQUIRE(victim->wait().signal == SIGKILL);
  const auto killed = steady_clock::now();
  heir.signal(SIGCONT);
  REQUIRE(site.books().in_progress == kBatch);

  REQUIRE(eventually([&] { return count_in(read_file(site.output_of("heir")), "\n") == 1 + kBatch; }));
  const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - killed);
  CHECK(took <= kLease + kRecovery + kSlack);
  wait_for_books(site, "all settled", [](const Books& books) { return books.succeeded == 1 + kBatch; });
  heir.signal(SIGTERM);
  CHECK(heir.wait().exit_code == 0);

  // The victim's last line is torn; that event was delivered again, whole, as all of its batch.
  const Output torn = read_output(pipe.read_rest());
  CHECK(torn.deliveries.size() == static_cast<std::size_t>(pipe.capacity()) / (kBigPayload + 500));
  CHECK(torn.torn_end);
  const Output whole = read_output(read_file(site.output_of("heir")));
  CHECK_FALSE(whole.torn_end);
  CHECK(numbers_of(whole.deliveries).count(torn.torn_event_no) == 1);
  CHECK(count_repeats(whole.deliveries) == 0);
  CHECK(order_breaks(whole.deliveries).empty());
  for (const Json& event : site.list()) {
    CAPTURE(event.at("event_no"));
    CHECK(event.at("retry_count") == (event.at("event_no") == "hello" ? 0 : 1));  // a crash counts as one attempt
  }
}

/// Reads until so many lines are there.
void read_lines(Pipe& pipe, std::string& text, std::size_t count) {
  const auto enough = [&] {
    (void)pipe.read_some(text, milliseconds{1});
    return count_in(text, "\n") >= count;
  };
  REQUIRE(eventually(enough));
}

/// All are in progress, claimed for the second time, by the heir.
bool held_by_heir(const Site& site) {
  const std::vector<Json> events = site.list();
  return std::all_of(events.begin(), events.end(), [](const Json& event) {
    return event.at("publish_status") == 1 && event.at("version") == 2 && event.at("locked_by") == "heir";
  });
}

// What a stale owner can do: finish its delivery, late, behind newer events even. What it can't: record anything.
TEST_CASE("a relay that stood still for longer than its lease records nothing") {
  const Site site;
  site.run({"put"}, to_lines(input_events(kBatch, 4, kBigPayload)));
  Pipe stale_pipe;
  const auto stale = start_caught(site, "stale", stale_pipe);
  stale->signal(SIGSTOP);

  // The heir stands in its own delivery while the stale one wakes up.
  Pipe heir_pipe;
  ProcessOptions options =
      site.relay("heir", {"--lease", "10m", "--recovery", "200ms", "--poll", "50ms", "--order", "aggregate"});
  options.output_fd = heir_pipe.writer();
  Process heir{options};
  heir_pipe.close_writer();
  REQUIRE(eventually([&] { return held_by_heir(site); }));

  stale->signal(SIGCONT);
  std::string stale_text;
  const auto fenced = [&] {
    (void)stale_pipe.read_some(stale_text, milliseconds{1});
    return count_in(read_file(site.errors_of("stale")), "the lease was lost") == kBatch;
  };
  REQUIRE(eventually(fenced));
  CHECK(held_by_heir(site));

  std::string heir_text;
  read_lines(heir_pipe, heir_text, kBatch);
  const std::vector<Json> more = input_events(kBatch + 4, 4);
  site.run({"put"}, to_lines({more.begin() + kBatch, more.end()}));
  read_lines(heir_pipe, heir_text, kBatch + 4);
  wait_for_books(site, "all settled", [](const Books& books) { return books.succeeded == kBatch + 4; });
  for (Process* relay : {stale.get(), &heir}) {
    relay->signal(SIGTERM);
    const ProcessEnd end = relay->wait();
    INFO(read_file(site.errors_of(relay == &heir ? "heir" : "stale")));
    CHECK(end.exit_code == 0);
  }

  const Output heir_output = read_output(heir_text);
  CHECK(heir_output.deliveries.size() == kBatch + 4);
  CHECK(order_breaks(heir_output.deliveries).empty());
  const Output stale_output = read_output(stale_text + stale_pipe.read_rest());
  CHECK(order_breaks(stale_output.deliveries).empty());
  for (const Delivery& delivery : stale_output.deliveries) CHECK(delivery.version == 1);
  for (const Json& event : site.list()) CHECK(event.at("retry_count") == (event.at("version") == 2 ? 1 : 0));
}

}  // namespace
}  // namespace waybill::test
