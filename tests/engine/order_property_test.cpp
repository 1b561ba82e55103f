// Order per aggregate under everything that can happen to a delivery.

#include <map>

#include "engine/engine_fixture.hpp"
#include "support/property.hpp"

namespace waybill::test {
namespace {

constexpr int kAggregates = 4;

/// Checks deliveries as a consumer would: the first delivery of each event of an aggregate comes in order.
class OrderAuditor {
 public:
  void saw(const std::string& aggregate, int sequence) {
    int& last = last_[aggregate];
    if (sequence > last + 1)
      RC_FAIL("aggregate " + aggregate + ": " + std::to_string(sequence) + " came after " + std::to_string(last));
    last = std::max(last, sequence);
  }
  [[nodiscard]] int last(const std::string& aggregate) { return last_[aggregate]; }

 private:
  std::map<std::string, int> last_;
};

struct World {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<MemoryDatabase> database = make_memory_database(MemoryOptions{clock, {}, 0, false});
  std::unique_ptr<IEventRepository> store = make_memory_repository(database);
  OrderAuditor auditor;
  NoTelemetry telemetry;
  std::map<std::string, int> appended;

  std::vector<Outcome> deliver(std::span<const Event> events, bool calm) {
    return answer_each(events, [&](const Event& event) {
      const int luck = calm ? 0 : *rc::gen::inRange(0, 10);
      if (luck == 7) return Outcome::retry("500");
      if (luck == 8) return Outcome::unavailable("down");
      if (luck == 9) return Outcome::not_attempted("no time");
      auditor.saw(event.aggregate_id, std::stoi(event.event_no.substr(event.event_no.find('-') + 1)));
      return Outcome::delivered();
    });
  }

  std::unique_ptr<Relay> make_relay(IEventRepository& repository, const std::string& owner, const bool& calm) {
    auto destination = std::make_shared<Destination>();
    destination->answer = [this, &calm](std::span<const Event> events) { return deliver(events, calm); };
    std::vector<Route> routes;
    routes.push_back(make_route("*", destination));
    RelayOptions options;
    options.claim.owner = owner;
    options.claim.limit = static_cast<std::size_t>(*rc::gen::inRange(1, 12));
    options.claim.ordering = Ordering::aggregate;
    return std::make_unique<Relay>(
        repository, std::move(routes), options, [] { return 0.0; }, telemetry);
  }

  void append() {
    const std::string aggregate = std::to_string(*rc::gen::inRange(0, kAggregates));
    NewEvent event = make_event(aggregate + "-" + std::to_string(++appended[aggregate]), "orders", aggregate);
    event.max_retry_count = 1000;
    (void)store->append(std::span(&event, 1));
  }
};

TEST_CASE("order per aggregate holds across retries, outages, lost leases and two relays") {
  check_property(
      "order per aggregate",
      [] {
        World world;
        bool calm = false;
        const auto first_store = make_memory_repository(world.database);
        const auto second_store = make_memory_repository(world.database);
        auto first = world.make_relay(*first_store, "first", calm);
        auto second = world.make_relay(*second_store, "second", calm);
        const int steps = *rc::gen::inRange(1, 120);
        for (int step = 0; step < steps; ++step) {
          switch (*rc::gen::inRange(0, 9)) {
            case 0:
            case 1:
            case 2:
              world.append();
              break;
            case 3:
            case 4:
              (void)first->step();
              break;
            case 5:
              (void)second->step();
              break;
            case 6:
              world.clock->advance(std::chrono::milliseconds{*rc::gen::inRange(1, 5000)});
              break;
            case 7:
              world.clock->advance(31s);  // leases run out
              break;
            default:
              first = world.make_relay(*first_store, "first", calm);  // a crash
          }
        }
        // When the faults stop, the backlog drains.
        calm = true;
        for (int round = 0; round < 400 && world.store->backlog().depth() > 0; ++round) {
          (void)first->step();
          (void)second->step();
          world.clock->advance(1min);
        }
        for (const auto& [aggregate, count] : world.appended) RC_ASSERT(world.auditor.last(aggregate) == count);
        RC_ASSERT(world.store->stats({}).of(Status::in_progress) == 0U);
      },
      3);
}

}  // namespace
}  // namespace waybill::test
