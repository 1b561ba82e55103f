// SIGTERM and SIGINT: what is under way ends, the rest is given back, nothing is counted against an event.

#include <csignal>

#include "crash/audit.hpp"
#include "crash/chance.hpp"
#include "crash/pipe.hpp"
#include "crash/site.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// What a busy machine may add to a deadline.
constexpr seconds kSlack{4};

/// Nothing in progress, no attempt counted.
void check_given_back(const Site& site) {
  CHECK(site.books().in_progress == 0);
  CHECK(site.books().failed == 0);
  for (const auto& event : site.list()) {
    if (event.at("retry_count") == 0 && event.at("locked_by").is_null()) continue;
    FAIL_CHECK(event.at("event_no") << ": retry_count " << event.at("retry_count") << ", locked_by "
                                    << event.at("locked_by"));
  }
}

TEST_CASE("a busy relay that is told to stop ends well, and nothing is delivered twice") {
  Chance chance{"stops of a busy relay"};
  INFO("repeat with WAYBILL_TEST_SEED=" << chance.seed());
  const Site site;
  constexpr std::size_t kEvents = 5000;
  site.run({"put", "--batch", "500"}, to_lines(input_events(kEvents, 100)));
  std::vector<Delivery> all;
  const auto take = [&](const std::string& text) {
    const Output output = read_output(text);
    CHECK_FALSE(output.torn_end);
    all.insert(all.end(), output.deliveries.begin(), output.deliveries.end());
  };
  for (int round = 1; round <= 8; ++round) {
    const int signal = round % 2 == 0 ? SIGINT : SIGTERM;
    CAPTURE(round, signal);
    const std::string name = "relay-" + std::to_string(round);
    Process relay{site.relay(name, {"--batch", "20", "--order", round % 3 == 0 ? "aggregate" : "none", "--workers",
                                    std::to_string(chance.between(1, 3))})};
    const auto wanted = static_cast<std::uintmax_t>(chance.between(0, 60'000));  // of some MB in all
    REQUIRE(eventually([&] { return std::filesystem::file_size(site.output_of(name)) >= wanted; }));
    relay.signal(signal);
    const ProcessEnd end = relay.wait(seconds{10} + kSlack);
    INFO(read_file(site.errors_of(name)));
    CHECK(end.exit_code == 0);
    take(read_file(site.output_of(name)));
    CHECK(site.books().succeeded == all.size());
    check_given_back(site);
  }
  CHECK(all.size() < kEvents);  // else no relay was stopped while busy
  take(site.drain("rest"));
  CHECK(all.size() == kEvents);
  CHECK(numbers_of(all).size() == kEvents);
}

TEST_CASE("an idle relay ends at once when told to stop") {
  const Site site;
  Process relay{site.relay("idle", {"--poll", "60s"})};
  site.run({"put"}, to_lines(input_events(1, 1)));
  wait_for_books(site, "it is up", [](const Books& books) { return books.succeeded == 1; });
  relay.signal(SIGTERM);
  CHECK(relay.wait(kSlack).exit_code == 0);
}

TEST_CASE("a reader that stands still does not keep a relay beyond its shutdown deadline") {
  const Site site;
  constexpr std::size_t kEvents = 200;
  constexpr std::size_t kBatch = 100;
  site.run({"put"}, to_lines(input_events(kEvents, 10, 2000)));
  Pipe pipe;
  // Without the signal the delivery would go on for two thirds of the lease: far longer than the test waits.
  ProcessOptions options = site.relay("slow", {"--batch", std::to_string(kBatch), "--lease", "10m", "--order",
                                               "aggregate", "--shutdown-deadline", "1s"});
  options.output_fd = pipe.writer();
  Process relay{options};
  pipe.close_writer();
  REQUIRE(eventually([&] { return pipe.waiting() > pipe.capacity() - 4096; }));
  const auto told = steady_clock::now();
  relay.signal(SIGTERM);
  const ProcessEnd end = relay.wait(seconds{30});
  INFO(read_file(site.errors_of("slow")));
  CHECK(steady_clock::now() - told <= seconds{1} + kSlack);
  CHECK(end.exit_code == 0);
  check_given_back(site);
  CHECK(site.books().pending == kEvents);

  const Output first = read_output(pipe.read_rest());
  CHECK(first.deliveries.size() < kBatch);
  const Output second = read_output(site.drain("rest", {"--order", "aggregate"}));
  CHECK(second.deliveries.size() == kEvents);
  CHECK(numbers_of(second.deliveries).size() == kEvents);
  CHECK(order_breaks(second.deliveries).empty());
}

}  // namespace
}  // namespace waybill::test
