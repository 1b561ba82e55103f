// Putters and relays killed at random moments: no accepted event is lost, the books balance, order holds, and an event
// is delivered again only where a kill or a lost lease explains it.

#include <csignal>

#include "crash/turmoil.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

void run(const std::string& name, const TurmoilPlan& plan) {
  Chance chance{name};
  INFO("repeat with WAYBILL_TEST_SEED=" << chance.seed());
  Turmoil turmoil{plan, chance};
  turmoil.run_rounds();
  turmoil.settle_down();
  turmoil.audit();
}

TEST_CASE("kills without order: nothing is lost, and the books balance") {
  run("kills without order", {.order = "none", .rounds = 60, .shared_output = false, .freeze_percent = 0});
}

// A frozen relay that wakes up after its lease may write its last batch again, late: then an old event of an aggregate
// is seen behind newer ones. That is a repeat; the first delivery of each event is in order all the same.
TEST_CASE("kills with order by aggregate: first deliveries are in order, across relays, kills and lost leases") {
  run("kills with order by aggregate",
      {.order = "aggregate", .rounds = 60, .shared_output = true, .freeze_percent = 25});
}

TEST_CASE("without kills two relays deliver each event once") {
  const Site site;
  constexpr std::size_t kEvents = 1500;
  std::vector<std::unique_ptr<Process>> relays;
  for (const char* name : {"left", "right"})
    relays.push_back(std::make_unique<Process>(
        site.relay(name, {"--order", "aggregate", "--batch", "10", "--poll", "50ms", "--workers", "2"})));
  site.run({"put", "--batch", "25"}, to_lines(input_events(kEvents, 40)));
  wait_for_books(site, "all delivered", [&](const Books& books) { return books.succeeded == kEvents; });
  std::vector<Delivery> all;
  for (const auto& relay : relays) {
    relay->signal(SIGTERM);
    CHECK(relay->wait().exit_code == 0);
  }
  for (const char* name : {"left", "right"}) {
    const Output output = read_output(read_file(site.output_of(name)));
    CHECK_FALSE(output.torn_end);
    all.insert(all.end(), output.deliveries.begin(), output.deliveries.end());
  }
  CHECK(all.size() == kEvents);
  CHECK(numbers_of(all).size() == kEvents);
}

}  // namespace
}  // namespace waybill::test
