// Destinations that go away and come back.

#include "engine/engine_fixture.hpp"

namespace waybill::test {
namespace {

using Numbers = std::vector<std::string>;

std::vector<Outcome> down(std::span<const Event> events) {
  return std::vector<Outcome>(events.size(), Outcome::unavailable("connection refused"));
}

TEST_CASE_METHOD(Engine, "an outage burns no attempt, and the backlog drains at once when it ends") {
  append({"a", "b", "c"});
  destination->answer = down;
  Relay relay = make_relay();
  const StepResult first = relay.step();
  REQUIRE(first.released == 3);
  REQUIRE(first.next_due == clock->now() + 1s);
  (void)relay.step();
  REQUIRE(get("a").publish_status == Status::pending);
  REQUIRE(get("a").retry_count == 0);
  REQUIRE(destination->calls == 1);

  clock->advance(1s);
  (void)relay.step();  // the probe fails: one event only was tried
  REQUIRE(destination->seen == Numbers{"a", "b", "c", "a"});
  clock->advance(1s);
  REQUIRE(relay.step().claimed == 0);  // the pause has doubled
  clock->advance(1s);
  destination->answer = nullptr;
  REQUIRE(relay.step().delivered == 3);
  (void)relay.step();
  for (const char* number : {"a", "b", "c"}) {
    REQUIRE(get(number).publish_status == Status::succeeded);
    REQUIRE(get(number).retry_count == 0);
  }
}

TEST_CASE_METHOD(Engine, "a TransportError is an outage") {
  append({"a"});
  destination->answer = [](auto) -> std::vector<Outcome> { throw TransportError("no route to host"); };
  Relay relay = make_relay();
  REQUIRE(relay.step().released == 1);
  REQUIRE(relay.routes().front().breaker.last_reason() == "no route to host");
}

TEST_CASE_METHOD(Engine, "a route that is down does not hold back the others") {
  auto healthy = std::make_shared<Destination>();
  destination->answer = down;
  std::vector<Route> routes;
  routes.push_back(make_route("down", destination));
  routes.push_back(make_route("*", healthy));
  Relay relay = make_relay(std::move(routes));
  for (int number = 0; number < 500; ++number) append(make_event("down-" + std::to_string(number), "down"));
  (void)relay.step();
  for (int number = 0; number < 50; ++number) append(make_event("up-" + std::to_string(number), "up"));
  (void)relay.step();
  REQUIRE(healthy->delivered.size() == 50);
  REQUIRE(destination->calls == 1);
}

TEST_CASE_METHOD(Engine, "a failed probe that is the event's own fault closes the breaker") {
  append({"bad", "good"});
  destination->answer = down;
  Relay relay = make_relay();
  (void)relay.step();
  clock->advance(1s);
  destination->answer = [](auto events) {
    return answer_each(events, [](const Event& event) {
      return event.event_no == "bad" ? Outcome::rejected("400") : Outcome::delivered();
    });
  };
  (void)relay.step();  // the destination answered: it is up
  (void)relay.step();
  (void)relay.step();
  REQUIRE(is_dead(get("bad")));
  REQUIRE(get("good").publish_status == Status::succeeded);
}

TEST_CASE_METHOD(Engine, "a retried event that meets an outage keeps its count") {
  append({"a"});
  destination->answer = [](auto events) { return std::vector<Outcome>(events.size(), Outcome::retry("500")); };
  Relay relay = make_relay();
  (void)relay.step();
  (void)relay.step();
  clock->advance(1min);
  destination->answer = down;
  (void)relay.step();
  (void)relay.step();
  REQUIRE(get("a").retry_count == 1);
  clock->advance(10s);
  destination->answer = nullptr;
  (void)relay.step();
  (void)relay.step();
  REQUIRE(get("a").publish_status == Status::succeeded);
}

TEST_CASE_METHOD(Engine, "a destination that is gone for good is told") {
  append({"a"});
  destination->answer = [this](auto events) {
    destination->finished = "the reader is gone";
    return down(events);
  };
  Relay relay = make_relay();
  REQUIRE(relay.step().finished == "the reader is gone");
  (void)relay.finish();
  REQUIRE(get("a").publish_status == Status::pending);
  REQUIRE(get("a").retry_count == 0);
}

}  // namespace
}  // namespace waybill::test
