#include "engine/engine_fixture.hpp"

namespace waybill::test {
namespace {

class PlayedTransport final : public ITransport {
 public:
  explicit PlayedTransport(std::shared_ptr<Destination> destination) : destination_(std::move(destination)) {}

  std::vector<Outcome> deliver(std::span<const Event> events, Duration) override {
    ++destination_->calls;
    for (const Event& event : events) destination_->seen.push_back(event.event_no);
    std::vector<Outcome> outcomes =
        destination_->answer ? destination_->answer(events) : std::vector<Outcome>(events.size(), Outcome::delivered());
    for (std::size_t at = 0; at < events.size() && at < outcomes.size(); ++at)
      if (outcomes[at].kind == Outcome::Kind::delivered) destination_->delivered.push_back(events[at].event_no);
    return outcomes;
  }
  std::string finished() const override { return destination_->finished; }

 private:
  std::shared_ptr<Destination> destination_;
};

}  // namespace

std::vector<Outcome> answer_each(std::span<const Event> events,
                                 const std::function<Outcome(const Event&)>& outcome_of) {
  std::vector<Outcome> outcomes;
  StoppedAggregates stopped;
  for (const Event& event : events) {
    if (stopped.contains(event)) {
      outcomes.push_back(Outcome::not_attempted("behind a failure"));
      continue;
    }
    outcomes.push_back(outcome_of(event));
    if (outcomes.back().kind != Outcome::Kind::delivered) stopped.stop(event);
  }
  return outcomes;
}

std::unique_ptr<ITransport> make_transport(std::shared_ptr<Destination> destination) {
  return std::make_unique<PlayedTransport>(std::move(destination));
}

Route make_route(const std::string& pattern, std::shared_ptr<Destination> destination) {
  return Route{RoutePattern::parse(pattern), pattern, make_transport(std::move(destination)),
               RetryPolicy::fixed({1min, 5min}, 0.0), Breaker{}};
}

NewEvent make_event(const std::string& number, const std::string& topic, const std::string& aggregate) {
  NewEvent event;
  event.event_no = number;
  event.aggregate_type = "ORDER";
  event.aggregate_id = aggregate.empty() ? number : aggregate;
  event.event_type = "ORDER_CREATED";
  event.topic = topic;
  event.event_payload = "{}";
  return event;
}

Engine::Engine()
    : clock(std::make_shared<ManualClock>()),
      database(make_memory_database(MemoryOptions{clock, {}, 0, false})),
      store(make_memory_repository(database)),
      destination(std::make_shared<Destination>()) {
  options.claim.lease = 30s;
  options.delivery_budget = 20s;
  options.recovery_interval = 1s;
}

void Engine::append(const NewEvent& event) {
  REQUIRE(store->append(std::span(&event, 1)).front().status == AppendStatus::inserted);
}

void Engine::append(std::initializer_list<const char*> numbers) {
  for (const char* number : numbers) append(make_event(number));
}

Event Engine::get(const std::string& number) {
  const std::optional<Event> event = store->find(number);
  REQUIRE(event);
  return *event;
}

Relay Engine::make_relay(IEventRepository& repository, std::vector<Route> routes, const std::string& owner) {
  RelayOptions own = options;
  own.claim.owner = owner;
  return Relay(
      repository, std::move(routes), own, [] { return 0.0; }, telemetry,
      [this](LogLevel, std::string_view line) { log.emplace_back(line); });
}

Relay Engine::make_relay(std::vector<Route> routes, const std::string& owner) {
  return make_relay(*store, std::move(routes), owner);
}

Relay Engine::make_relay() {
  std::vector<Route> routes;
  routes.push_back(make_route("*", destination));
  return make_relay(std::move(routes));
}

}  // namespace waybill::test
