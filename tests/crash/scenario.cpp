#include "crash/scenario.hpp"

#include <csignal>

#include "support/catch.hpp"

namespace waybill::test {

void run_turmoil(const std::string& name, const TurmoilPlan& plan, Site& site, MortalServer server) {
  Chance chance{name};
  INFO("repeat with WAYBILL_TEST_SEED=" << chance.seed());
  Turmoil turmoil{plan, chance, site, std::move(server)};
  turmoil.run_rounds();
  turmoil.settle_down();
  turmoil.audit();
}

std::map<std::string, std::size_t> deliver_each_once(const Site& site) {
  constexpr std::size_t kEvents = 1500;
  const std::vector<std::string> names{"left", "right"};
  std::vector<std::unique_ptr<Process>> relays;
  for (const std::string& name : names)
    relays.push_back(std::make_unique<Process>(
        site.relay(name, {"--order", "aggregate", "--batch", "10", "--poll", "50ms", "--workers", "2"})));
  site.run({"put", "--batch", "25"}, to_lines(input_events(kEvents, 40)));
  wait_for_books(site, "all delivered", [&](const Books& books) { return books.succeeded == kEvents; });
  std::vector<Delivery> all;
  for (const auto& relay : relays) {
    relay->signal(SIGTERM);
    CHECK(relay->wait().exit_code == 0);
  }
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : names) {
    const Output output = read_output(read_file(site.output_of(name)));
    CHECK_FALSE(output.torn_end);
    counts[name] = output.deliveries.size();
    all.insert(all.end(), output.deliveries.begin(), output.deliveries.end());
  }
  CHECK(all.size() == kEvents);
  CHECK(numbers_of(all).size() == kEvents);
  return counts;
}

}  // namespace waybill::test
