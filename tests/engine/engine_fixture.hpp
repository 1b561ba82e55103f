#pragma once
// A relay on the in-memory store with a clock and destinations that tests play.

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "waybill/backends/memory.hpp"
#include "waybill/relay.hpp"

namespace waybill::test {

using namespace std::chrono_literals;

/// What a destination does and has seen; shared by the test and the relay's transport.
struct Destination {
  std::function<std::vector<Outcome>(std::span<const Event>)> answer;  ///< empty: everything is delivered
  std::vector<std::string> seen;                                       ///< event numbers, as they came
  std::vector<std::string> delivered;
  std::string finished;
  std::size_t calls{0};
};

/// Answers with one outcome for all, but keeps the ordering rule: after a failure, the rest of the aggregate waits.
[[nodiscard]] std::vector<Outcome> answer_each(std::span<const Event> events,
                                               const std::function<Outcome(const Event&)>& outcome_of);
[[nodiscard]] std::unique_ptr<ITransport> make_transport(std::shared_ptr<Destination> destination);
[[nodiscard]] Route make_route(const std::string& pattern, std::shared_ptr<Destination> destination);
[[nodiscard]] NewEvent make_event(const std::string& number, const std::string& topic = "orders",
                                  const std::string& aggregate = {});

/// Use with TEST_CASE_METHOD.
class Engine {
 protected:
  Engine();
  void append(const NewEvent& event);
  void append(std::initializer_list<const char*> numbers);
  [[nodiscard]] Event get(const std::string& number);
  [[nodiscard]] Relay make_relay(std::vector<Route> routes, const std::string& owner = "relay-a");
  [[nodiscard]] Relay make_relay(IEventRepository& repository, std::vector<Route> routes, const std::string& owner);
  /// One route for everything to `destination`.
  [[nodiscard]] Relay make_relay();

  std::shared_ptr<ManualClock> clock;
  std::shared_ptr<MemoryDatabase> database;
  std::unique_ptr<IEventRepository> store;
  std::shared_ptr<Destination> destination;
  RelayOptions options;
  NoTelemetry telemetry;
  std::vector<std::string> log;
};

}  // namespace waybill::test
