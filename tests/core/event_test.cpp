#include "waybill/event.hpp"

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/error.hpp"

namespace waybill::test {
namespace {

EventContent content() {
  EventContent event;
  event.event_no = "E-1";
  event.aggregate_type = "ORDER";
  event.aggregate_id = "42";
  event.event_type = "ORDER_CREATED";
  event.event_payload = R"({"a":1,"b":[2]})";
  return event;
}

TEST_CASE("the first column that differs is named") {
  const std::vector<std::pair<std::string, void (*)(EventContent&)>> changes{
      {"event_no", [](EventContent& event) { event.event_no += "x"; }},
      {"aggregate_type", [](EventContent& event) { event.aggregate_type += "x"; }},
      {"aggregate_id", [](EventContent& event) { event.aggregate_id += "x"; }},
      {"event_type", [](EventContent& event) { event.event_type += "x"; }},
      {"event_version", [](EventContent& event) { ++event.event_version; }},
      {"event_source", [](EventContent& event) { event.event_source += "x"; }},
      {"publish_channel", [](EventContent& event) { event.publish_channel += "x"; }},
      {"topic", [](EventContent& event) { event.topic = ""; }},
      {"routing_key", [](EventContent& event) { event.routing_key = "x"; }},
      {"event_payload", [](EventContent& event) { event.event_payload = R"({"a":1,"b":[3]})"; }},
      {"event_headers", [](EventContent& event) { event.event_headers = R"({"tenant":"t"})"; }},
  };
  EventContent all = content();
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    CAPTURE(change->first);
    EventContent one = content();
    change->second(one);
    CHECK(content_difference(content(), one) == change->first);
    CHECK(content_difference(one, content()) == change->first);
    change->second(all);
    CHECK(content_difference(content(), all) == change->first);
  }
}

TEST_CASE("trace and remark are no difference") {
  EventContent other = content();
  other.trace_id = "t";
  other.remark = "r";
  CHECK(content_difference(content(), other).empty());
}

TEST_CASE("JSON is compared as JSON") {
  EventContent other = content();
  other.event_payload = " { \"b\" : [ 2.0 ], \"a\" : 1 } ";
  CHECK(content_difference(content(), other).empty());
  EventContent left = content();
  EventContent right = content();
  left.event_headers = R"({"x":1,"y":2})";
  right.event_headers = R"({"y":2, "x":1})";
  CHECK(content_difference(left, right).empty());
}

TEST_CASE("trace headers are left out of the comparison") {
  EventContent left = content();
  EventContent right = content();
  left.event_headers = R"({"traceparent":"00-a","tenant":"t"})";
  right.event_headers = R"({"tenant":"t","tracestate":"x","traceparent":"00-b"})";
  CHECK(content_difference(left, right).empty());
  left.event_headers = R"({"traceparent":"00-a"})";
  right.event_headers.reset();
  CHECK(content_difference(left, right).empty());
  CHECK(content_difference(right, left).empty());
  right.event_headers = R"({"tenant":"t"})";
  CHECK(content_difference(left, right) == "event_headers");
}

TEST_CASE("a foreign writer's broken JSON is compared by its bytes") {
  EventContent left = content();
  EventContent right = content();
  left.event_payload = right.event_payload = "not json";
  CHECK(content_difference(left, right).empty());
  right.event_payload = "not  json";
  CHECK(content_difference(left, right) == "event_payload");
  right = left;
  left.event_headers = "[1]";
  CHECK(content_difference(left, right) == "event_headers");
  right.event_headers = "[ 1]";
  CHECK(content_difference(left, right) == "event_headers");
  left.event_payload = std::string(200'000, '[');
  right.event_payload = std::string(200'000, '[') + " ";
  CHECK(content_difference(left, right) == "event_payload");
}

TEST_CASE("an event never differs from itself, and difference has no direction") {
  check_property("content_difference is reflexive and symmetric", [] {
    const NewEvent a = any_event();
    NewEvent b = any_event();
    if (*rc::gen::arbitrary<bool>()) {
      const std::string payload = b.event_payload;
      b = a;
      b.event_payload = payload;
    }
    RC_ASSERT(content_difference(a, a).empty());
    RC_ASSERT(content_difference(a, b) == content_difference(b, a));
  });
}

TEST_CASE("a token names the claim") {
  Event event;
  event.id = 7;
  event.version = 3;
  event.locked_by = "relay-1";
  CHECK(token_of(event) == Token{7, 3, "relay-1"});
}

TEST_CASE("same aggregate means same type and id") {
  EventContent other = content();
  CHECK(same_aggregate(content(), other));
  other.aggregate_type = "REFUND";
  CHECK_FALSE(same_aggregate(content(), other));
}

TEST_CASE("error codes have names") {
  CHECK(std::string{to_string(ErrorCode::outcome_unknown)} == "outcome_unknown");
  CHECK(std::string{to_string(ErrorCode::busy)} == "busy");
}

}  // namespace
}  // namespace waybill::test
