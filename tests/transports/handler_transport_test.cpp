#include "support/catch.hpp"
#include "transports/sample_events.hpp"
#include "waybill/transports/handler.hpp"

namespace waybill::test {
namespace {

constexpr Duration kBudget = std::chrono::seconds{10};

Outcome deliver_one(const std::shared_ptr<HandlerMap>& handlers, const Event& event, Duration budget = kBudget) {
  return make_handler_transport(handlers)->deliver(std::vector{event}, budget).at(0);
}

TEST_CASE("the handler of the event's type is called, * takes the rest") {
  auto handlers = std::make_shared<HandlerMap>();
  std::vector<std::string> calls;
  handlers->add("ORDER_PAID", [&](const Event& event) { calls.push_back("paid " + event.event_no); });
  handlers->add("*", [&](const Event& event) { calls.push_back("other " + event.event_no); });
  Event other = sample_event("2", "A");
  other.event_type = "ORDER_SENT";
  CHECK(deliver_one(handlers, sample_event("1", "A")).kind == Outcome::Kind::delivered);
  CHECK(deliver_one(handlers, other).kind == Outcome::Kind::delivered);
  CHECK(calls == std::vector<std::string>{"paid 1", "other 2"});
}

TEST_CASE("an event type without a handler is rejected, and the reason names it") {
  auto handlers = std::make_shared<HandlerMap>();
  handlers->add("ORDER_SENT", [](const Event&) {});
  const Outcome outcome = deliver_one(handlers, sample_event("1", "A"));
  CHECK(outcome.kind == Outcome::Kind::rejected);
  CHECK(outcome.reason.find("ORDER_PAID") != std::string::npos);
}

TEST_CASE("what a handler throws is an outcome") {
  auto handlers = std::make_shared<HandlerMap>();
  handlers->add("reject", [](const Event&) { throw RejectEvent("no such customer"); });
  handlers->add("retry", [](const Event&) { throw std::runtime_error("mail server down"); });
  handlers->add("odd", [](const Event&) { throw 42; });
  Event event = sample_event("1", "A");
  event.event_type = "reject";
  CHECK(deliver_one(handlers, event).kind == Outcome::Kind::rejected);
  CHECK(deliver_one(handlers, event).reason == "no such customer");
  event.event_type = "retry";
  CHECK(deliver_one(handlers, event).kind == Outcome::Kind::retry);
  CHECK(deliver_one(handlers, event).reason == "mail server down");
  event.event_type = "odd";
  CHECK(deliver_one(handlers, event).kind == Outcome::Kind::retry);
}

TEST_CASE("no handler is started once the time is up") {
  auto handlers = std::make_shared<HandlerMap>();
  int calls = 0;
  handlers->add("*", [&](const Event&) { ++calls; });
  CHECK(deliver_one(handlers, sample_event("1", "A"), Duration{0}).kind == Outcome::Kind::not_attempted);
  CHECK(calls == 0);
}

TEST_CASE("a type has one handler, and it must be callable") {
  HandlerMap handlers;
  CHECK(handlers.empty());
  handlers.add("ORDER_PAID", [](const Event&) {});
  CHECK_THROWS_AS(handlers.add("ORDER_PAID", [](const Event&) {}), ConfigError);
  CHECK_THROWS_AS(handlers.add("ORDER_SENT", HandlerMap::Handler{}), ConfigError);
  CHECK_FALSE(handlers.empty());
  CHECK(handlers.find("ORDER_SENT") == nullptr);
  CHECK_THROWS_AS(make_handler_transport(nullptr), ConfigError);
}

}  // namespace
}  // namespace waybill::test
