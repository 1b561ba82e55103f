#include "waybill/relay.hpp"

#include "engine/engine_fixture.hpp"
#include "support/forwarding_repository.hpp"

namespace waybill::test {
namespace {

using Numbers = std::vector<std::string>;

TEST_CASE_METHOD(Engine, "a step delivers what is due, and the next one settles it") {
  append({"a", "b"});
  Relay relay = make_relay();
  const StepResult first = relay.step();
  REQUIRE(first.claimed == 2);
  REQUIRE(first.delivered == 2);
  REQUIRE(destination->delivered == Numbers{"a", "b"});
  REQUIRE(get("a").publish_status == Status::in_progress);
  REQUIRE(relay.in_flight().size() == 2);
  const StepResult second = relay.step();
  REQUIRE(second.claimed == 0);
  REQUIRE(relay.settled());
  REQUIRE(relay.in_flight().size() == 0);
  REQUIRE(get("a").publish_status == Status::succeeded);
  REQUIRE(get("b").published_time == clock->now());
}

TEST_CASE_METHOD(Engine, "a failed event is tried again by the policy until its budget is used up") {
  NewEvent event = make_event("a");
  event.max_retry_count = 3;
  append(event);
  destination->answer = [](auto events) { return std::vector<Outcome>(events.size(), Outcome::retry("500")); };
  Relay relay = make_relay();
  std::size_t dead = 0;
  for (const Duration wait : {Duration{0}, Duration{1min}, Duration{5min}}) {
    if (wait > Duration{0}) {
      REQUIRE(get("a").next_retry_time == clock->now() + wait);
      clock->advance(wait - 1us);
      REQUIRE(relay.step().claimed == 0);
      clock->advance(1us);
    }
    REQUIRE(relay.step().retried == 1);
    dead += relay.step().dead;
  }
  REQUIRE(dead == 1);
  const Event stored = get("a");
  REQUIRE(is_dead(stored));
  REQUIRE(stored.retry_count == 3);
  REQUIRE(stored.fail_reason == "500");
  clock->advance(1000h);
  REQUIRE(relay.step().claimed == 0);
  REQUIRE(destination->seen.size() == 3);
}

TEST_CASE_METHOD(Engine, "the destination's Retry-After is kept when it is later than the policy's time") {
  append({"a"});
  destination->answer = [](auto events) { return std::vector<Outcome>(events.size(), Outcome::retry("429", 1h)); };
  Relay relay = make_relay();
  (void)relay.step();
  (void)relay.step();
  REQUIRE(get("a").next_retry_time == clock->now() + 1h);
}

TEST_CASE_METHOD(Engine, "a rejected event is dead at once and costs the others nothing") {
  append({"a", "b", "c"});
  destination->answer = [](auto events) {
    return answer_each(events, [](const Event& event) {
      return event.event_no == "b" ? Outcome::rejected("400") : Outcome::delivered();
    });
  };
  Relay relay = make_relay();
  REQUIRE(relay.step().rejected == 1);
  REQUIRE(relay.step().dead == 1);
  REQUIRE(is_dead(get("b")));
  REQUIRE(destination->delivered == Numbers{"a", "c"});
}

TEST_CASE_METHOD(Engine, "dead events are cancelled where the policy says so, critical types never") {
  NewEvent stats = make_event("stats");
  stats.event_type = "STATS_UPDATED";
  NewEvent paid = make_event("paid");
  paid.event_type = "PAY_SUCCESS";
  append(stats);
  append(paid);
  options.cancel_dead = {"*"};
  options.critical = {"PAY_*"};
  destination->answer = [](auto events) { return std::vector<Outcome>(events.size(), Outcome::rejected("gone")); };
  Relay relay = make_relay();
  (void)relay.step();
  (void)relay.step();
  REQUIRE(get("stats").publish_status == Status::cancelled);
  REQUIRE(get("stats").fail_reason == "gone");
  REQUIRE(is_dead(get("paid")));
}

TEST_CASE_METHOD(Engine, "events of a crashed relay move again within one lease and one interval") {
  append({"a"});
  {
    Relay crashed = make_relay();
    (void)crashed.step();  // claims and delivers, then is gone before it settles
  }
  std::vector<Route> routes;
  routes.push_back(make_route("*", destination));
  Relay other = make_relay(std::move(routes), "relay-b");
  REQUIRE(other.step().claimed == 0);
  clock->advance(30s + 1s);
  const StepResult step = other.step();
  REQUIRE(step.recovered == 1);
  REQUIRE(step.claimed == 1);
  (void)other.step();
  const Event stored = get("a");
  REQUIRE(stored.publish_status == Status::succeeded);
  REQUIRE(stored.retry_count == 1);  // the crash counted
  REQUIRE(destination->delivered == Numbers{"a", "a"});
}

TEST_CASE_METHOD(Engine, "an event that kills its relay each time is dead in the end") {
  NewEvent poison = make_event("poison");
  poison.max_retry_count = 3;
  append(poison);
  std::size_t attempts = 0;
  for (int round = 0; round < 10; ++round) {
    Relay doomed = make_relay();
    attempts += doomed.step().claimed;
    clock->advance(31s);
  }
  REQUIRE(attempts == 3);
  REQUIRE(is_dead(get("poison")));
  REQUIRE(get("poison").fail_reason == "lease expired");
}

TEST_CASE_METHOD(Engine, "a clock that steps back does not stop the recovery") {
  append({"a"});
  Relay relay = make_relay();
  (void)relay.step();
  (void)relay.step();
  clock->advance(-24h * 365);
  append({"b"});
  {
    std::vector<Route> routes;
    routes.push_back(make_route("*", std::make_shared<Destination>()));
    Relay crashed = make_relay(std::move(routes), "relay-b");
    (void)crashed.step();
  }
  clock->advance(31s);
  REQUIRE(relay.step().recovered == 1);
}

TEST_CASE_METHOD(Engine, "a stale owner's outcome changes nothing") {
  append({"a"});
  const auto rival = make_memory_repository(database);
  auto rival_destination = std::make_shared<Destination>();
  std::vector<Route> routes;
  routes.push_back(make_route("*", rival_destination));
  Relay second = make_relay(*rival, std::move(routes), "relay-b");
  destination->answer = [&](auto events) {
    clock->advance(31s);  // delivery outlives the lease
    (void)second.step();
    return std::vector<Outcome>(events.size(), Outcome::rejected("too late to matter"));
  };
  Relay first = make_relay();
  (void)first.step();
  REQUIRE(first.step().fenced == 1);
  REQUIRE(get("a").publish_status == Status::in_progress);
  REQUIRE(get("a").locked_by == "relay-b");
  (void)second.step();
  REQUIRE(get("a").publish_status == Status::succeeded);
}

/// Fails as told, before or after the real call.
class FlakyRepository final : public ForwardingRepository {
 public:
  using ForwardingRepository::ForwardingRepository;
  enum class When { never, before, after };
  When fail_exchange{When::never};
  bool knows_time{true};

  Timestamp now() override {
    if (!knows_time) throw StorageError(ErrorCode::unavailable, "the server is away");
    return inner_->now();
  }

  ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request) override {
    const When when = std::exchange(fail_exchange, When::never);
    if (when == When::before) throw StorageError(ErrorCode::busy, "busy");
    ExchangeResult result = inner_->exchange(settlements, request);
    if (when == When::after) throw StorageError(ErrorCode::outcome_unknown, "commit: connection lost");
    return result;
  }
};

TEST_CASE_METHOD(Engine, "what was delivered is settled after a store error") {
  append({"a"});
  FlakyRepository flaky(make_memory_repository(database));
  std::vector<Route> routes;
  routes.push_back(make_route("*", destination));
  Relay relay = make_relay(flaky, std::move(routes), "relay-a");
  (void)relay.step();
  flaky.fail_exchange = FlakyRepository::When::before;
  REQUIRE_THROWS_AS(relay.step(), StorageError);
  REQUIRE_FALSE(relay.settled());
  REQUIRE(relay.step().fenced == 0);
  REQUIRE(get("a").publish_status == Status::succeeded);
  REQUIRE(destination->calls == 1);
}

TEST_CASE_METHOD(Engine, "what was delivered while the store went away is settled when it is back") {
  append({"a"});
  FlakyRepository flaky(make_memory_repository(database));
  destination->answer = [&](auto events) {
    flaky.knows_time = false;
    return std::vector<Outcome>(events.size(), Outcome::delivered());
  };
  std::vector<Route> routes;
  routes.push_back(make_route("*", destination));
  Relay relay = make_relay(flaky, std::move(routes), "relay-a");
  REQUIRE(relay.step().delivered == 1);
  REQUIRE_FALSE(relay.settled());
  REQUIRE_THROWS_AS(relay.step(), StorageError);
  flaky.knows_time = true;
  (void)relay.step();
  REQUIRE(relay.settled());
  REQUIRE(get("a").publish_status == Status::succeeded);
  REQUIRE(destination->calls == 1);
}

TEST_CASE_METHOD(Engine, "a commit whose answer was lost settles nothing twice") {
  append({"a", "b"});
  options.claim.limit = 1;
  FlakyRepository flaky(make_memory_repository(database));
  std::vector<Route> routes;
  routes.push_back(make_route("*", destination));
  Relay relay = make_relay(flaky, std::move(routes), "relay-a");
  (void)relay.step();
  flaky.fail_exchange = FlakyRepository::When::after;
  REQUIRE_THROWS_AS(relay.step(), StorageError);  // settled a and claimed b, but nobody heard of it
  REQUIRE(relay.step().fenced == 1);
  REQUIRE(get("a").publish_status == Status::succeeded);
  clock->advance(31s);
  for (int step = 0; step < 3; ++step) (void)relay.step();
  REQUIRE(get("b").publish_status == Status::succeeded);
  REQUIRE(destination->delivered == Numbers{"a", "b"});
}

TEST_CASE_METHOD(Engine, "a transport that throws loses only the event that made it throw") {
  append({"a", "poison", "c"});
  destination->answer = [](auto events) -> std::vector<Outcome> {
    for (const Event& event : events)
      if (event.event_no == "poison") throw std::runtime_error("null pointer, say");
    return std::vector<Outcome>(events.size(), Outcome::delivered());
  };
  Relay relay = make_relay();
  const StepResult step = relay.step();
  REQUIRE(step.delivered == 2);
  REQUIRE(step.retried == 1);
  (void)relay.step();
  REQUIRE(get("poison").retry_count == 1);
  REQUIRE(get("c").publish_status == Status::succeeded);
}

TEST_CASE_METHOD(Engine, "events a transport says nothing about are given back") {
  append({"a", "b"});
  destination->answer = [](auto) { return std::vector<Outcome>{Outcome::delivered()}; };
  Relay relay = make_relay();
  REQUIRE(relay.step().released == 1);
  destination->answer = nullptr;
  (void)relay.step();
  (void)relay.step();
  REQUIRE(get("b").publish_status == Status::succeeded);
  REQUIRE(get("b").retry_count == 0);
}

TEST_CASE_METHOD(Engine, "a stopped relay claims nothing and settles what it has") {
  append({"a", "b"});
  options.claim.limit = 1;
  Relay relay = make_relay();
  (void)relay.step();
  relay.request_stop();
  (void)relay.finish();
  REQUIRE(relay.settled());
  REQUIRE(get("a").publish_status == Status::succeeded);
  REQUIRE(get("b").publish_status == Status::pending);
  REQUIRE(relay.step().claimed == 0);
}

TEST_CASE_METHOD(Engine, "a slow destination takes no time from the events behind it beyond the budget") {
  append(make_event("slow", "slow"));
  append(make_event("next", "fast"));
  auto fast = std::make_shared<Destination>();
  destination->answer = [&](auto events) {
    clock->advance(20s);
    return std::vector<Outcome>(events.size(), Outcome::delivered());
  };
  std::vector<Route> routes;
  routes.push_back(make_route("slow", destination));
  routes.push_back(make_route("*", fast));
  Relay relay = make_relay(std::move(routes));
  const StepResult step = relay.step();
  REQUIRE(step.delivered == 1);
  REQUIRE(step.released == 1);  // its lease may not last
  (void)relay.step();
  REQUIRE(fast->delivered == Numbers{"next"});
}

TEST_CASE_METHOD(Engine, "events without a route are left alone") {
  append(make_event("a", "orders"));
  append(make_event("b", "payments"));
  std::vector<Route> routes;
  routes.push_back(make_route("orders", destination));
  Relay relay = make_relay(std::move(routes));
  (void)relay.step();
  (void)relay.step();
  REQUIRE(destination->seen == Numbers{"a"});
  REQUIRE(get("b").publish_status == Status::pending);
  REQUIRE(get("b").version == 0);
}

TEST_CASE_METHOD(Engine, "the first matching route gets the event") {
  append(make_event("a", "orders.eu"));
  append(make_event("b", "orders.us"));
  auto rest = std::make_shared<Destination>();
  std::vector<Route> routes;
  routes.push_back(make_route("orders.eu", destination));
  routes.push_back(make_route("*", rest));
  Relay relay = make_relay(std::move(routes));
  (void)relay.step();
  REQUIRE(destination->seen == Numbers{"a"});
  REQUIRE(rest->seen == Numbers{"b"});
}

TEST_CASE_METHOD(Engine, "options that contradict each other are refused") {
  REQUIRE_THROWS_AS(make_relay(std::vector<Route>{}), ConfigError);
  options.delivery_budget = options.claim.lease;
  REQUIRE_THROWS_AS(make_relay(), ConfigError);
  options.delivery_budget = 1s;
  options.claim.limit = 0;
  REQUIRE_THROWS_AS(make_relay(), ConfigError);
}

}  // namespace
}  // namespace waybill::test
