#include <algorithm>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

NewEvent full_event() {
  NewEvent event = make_event("E-full", "订单-42");
  event.event_version = 7;
  event.event_source = "order-service";
  event.publish_channel = "HTTP";
  event.topic = "order.événement";
  event.routing_key = "eu.west";
  event.event_payload = "{ \"b\": 1.50,\n \"a\": [\"\\u0041\", \"😀\"] }";
  event.event_headers = R"({"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})";
  event.trace_id = "trace-1";
  event.remark = "first";
  event.max_retry_count = 3;
  event.next_retry_time = ManualClock::kStart + 5min + 1us;
  event.create_time = ManualClock::kStart - 1h + 7us;
  return event;
}

TEST_CASE_METHOD(Contract, "append keeps every field and starts pending", "[append]") {
  const NewEvent given = full_event();
  const AppendResult result = append(given);
  CHECK(result.status == AppendStatus::inserted);
  CHECK(result.id > 0);

  Event expected;
  static_cast<EventContent&>(expected) = given;
  expected.id = result.id;
  expected.max_retry_count = 3;
  expected.next_retry_time = given.next_retry_time;
  expected.create_time = *given.create_time;
  expected.update_time = now();
  CHECK(as_kept(get("E-full")) == as_kept(expected));
  reopen();
  CHECK(as_kept(get("E-full")) == as_kept(expected));
}

TEST_CASE_METHOD(Contract, "append leaves out what is not given", "[append]") {
  NewEvent given = make_event("E1");
  given.topic.reset();
  append(given);
  const Event stored = get("E1");
  Event expected;
  static_cast<EventContent&>(expected) = given;
  CHECK(static_cast<const EventContent&>(as_kept(stored)) == static_cast<const EventContent&>(as_kept(expected)));
  CHECK_FALSE(stored.topic.has_value());
  CHECK_FALSE(stored.event_headers.has_value());
  CHECK(stored.create_time == now());
  CHECK(static_cast<const DeliveryState&>(stored) == DeliveryState{});
}

TEST_CASE_METHOD(Contract, "append gives rising ids in the order given", "[append]") {
  std::vector<NewEvent> events;
  for (const char* number : {"E3", "E1", "E2"}) events.push_back(make_event(number));
  const auto first = store->append(events);
  const AppendResult later = append(make_event("E0"));
  REQUIRE(first.size() == 3);
  CHECK(first[0].id < first[1].id);
  CHECK(first[1].id < first[2].id);
  CHECK(first[2].id < later.id);
  CHECK(get("E3").id == first[0].id);
}

TEST_CASE_METHOD(Contract, "append of nothing does nothing", "[append]") {
  CHECK(store->append({}).empty());
  CHECK(store->query({}, {}).empty());
}

TEST_CASE_METHOD(Contract, "a repeated append is a duplicate and changes nothing", "[append]") {
  const AppendResult first = append(make_event("E1"));
  clock().advance(1s);
  succeed(claim_one("E1"));
  const Event before = get("E1");
  clock().advance(1s);

  const AppendResult again = append(make_event("E1"));
  CHECK(again.status == AppendStatus::duplicate);
  CHECK(again.id == first.id);
  CHECK(again.difference.empty());
  CHECK(get("E1") == before);
}

TEST_CASE_METHOD(Contract, "what is not content makes no conflict", "[append]") {
  append(make_event("E1"));
  const Event before = get("E1");
  NewEvent again = make_event("E1");
  SECTION("trace and remark") {
    again.trace_id = "another";
    again.remark = "second try";
  }
  SECTION("delivery settings and time") {
    again.max_retry_count = 9;
    again.next_retry_time = now() + 1h;
    again.create_time = now() - 1h;
  }
  SECTION("the payload's spelling") { again.event_payload = "{\"amount\" : 199 }"; }
  CHECK(append(again).status == AppendStatus::duplicate);
  CHECK(get("E1") == before);
}

TEST_CASE_METHOD(Contract, "other content under the same number is a conflict and changes nothing", "[append]") {
  const AppendResult first = append(make_event("E1"));
  const Event before = get("E1");
  NewEvent other = make_event("E1");
  std::string column;
  SECTION("payload") {
    other.event_payload = R"({"amount":200})";
    column = "event_payload";
  }
  SECTION("topic") {
    other.topic.reset();
    column = "topic";
  }
  SECTION("aggregate") {
    other.aggregate_id = "another";
    column = "aggregate_id";
  }
  const AppendResult result = append(other);
  CHECK(result.status == AppendStatus::conflict);
  CHECK(result.difference == column);
  CHECK(result.id == first.id);
  CHECK(get("E1") == before);
}

TEST_CASE_METHOD(Contract, "repetitions within one batch are found", "[append]") {
  NewEvent other = make_event("E1");
  other.event_payload = "[]";
  const std::vector<NewEvent> events{make_event("E1"), make_event("E1"), other, make_event("E2"), make_event("E1")};
  const auto results = store->append(events);
  REQUIRE(results.size() == 5);
  CHECK(results[0].status == AppendStatus::inserted);
  CHECK(results[1].status == AppendStatus::duplicate);
  CHECK(results[2].status == AppendStatus::conflict);
  CHECK(results[2].difference == "event_payload");
  CHECK(results[3].status == AppendStatus::inserted);
  CHECK(results[4].status == AppendStatus::duplicate);
  for (const std::size_t repeated : {1U, 2U, 4U}) CHECK(results[repeated].id == results[0].id);
  CHECK(numbers_of(store->query({}, {})) == Numbers{"E1", "E2"});
}

TEST_CASE_METHOD(Contract, "known and new numbers mix in a batch", "[append]") {
  append({"E1", "E2"});
  const std::vector<NewEvent> events{make_event("E3"), make_event("E1"), make_event("E4")};
  const auto results = store->append(events);
  REQUIRE(results.size() == 3);
  CHECK(results[1].status == AppendStatus::duplicate);
  CHECK(results[0].id < results[2].id);
  CHECK(numbers_of(store->query({}, {})) == Numbers{"E1", "E2", "E3", "E4"});
}

TEST_CASE_METHOD(Contract, "an event beyond the limits keeps its whole batch out", "[append]") {
  std::vector<NewEvent> events{make_event("E1"), make_event("E2"), make_event("E3")};
  std::string field;
  SECTION("too long") {
    events[1].event_type = std::string(65, 'x');
    field = "event_type";
  }
  SECTION("missing") {
    events[2].aggregate_id.clear();
    field = "aggregate_id";
  }
  SECTION("no JSON") {
    events[2].event_payload = "{amount:199}";
    field = "event_payload";
  }
  try {
    (void)store->append(events);
    FAIL("no exception");
  } catch (const InvalidEvent& error) {
    CHECK(error.code() == ErrorCode::invalid);
    CHECK(error.field() == field);
    CHECK(std::string(error.what()).find("amount") == std::string::npos);
  }
  CHECK(store->query({}, {}).empty());
}

TEST_CASE_METHOD(Contract, "the payload's limit is the store's own", "[append]") {
  StoreSettings settings;
  settings.limits.max_payload_bytes = 20;
  restart(settings);
  NewEvent event = make_event("E1");
  event.event_payload = '"' + std::string(18, 'x') + '"';
  CHECK(append(event).status == AppendStatus::inserted);
  event.event_no = "E2";
  event.event_payload.insert(1, "x");
  CHECK_THROWS_AS(store->append({&event, 1}), InvalidEvent);
}

TEST_CASE_METHOD(Archiving, "an archived number is still taken", "[append]") {
  const Event sent = add_in(Status::succeeded, "E1");
  clock().advance(1s);
  REQUIRE(store->archive(now(), 10) == 1);

  const AppendResult again = append(make_event("E1"));
  CHECK(again.status == AppendStatus::duplicate);
  CHECK(again.id == sent.id);
  NewEvent other = make_event("E1");
  other.event_payload = "0";
  CHECK(append(other).status == AppendStatus::conflict);
  CHECK(store->query({}, {}).empty());
}

TEST_CASE_METHOD(Contract, "a purged number is free again, its id is not", "[append]") {
  const Event sent = add_in(Status::succeeded, "E1");
  clock().advance(1s);
  REQUIRE(store->purge(now(), 10) == 1);
  reopen();
  const AppendResult again = append(make_event("E1"));
  CHECK(again.status == AppendStatus::inserted);
  CHECK(again.id > sent.id);
}

TEST_CASE_METHOD(Contract, "other connections see what was appended", "[append]") {
  const auto other = database->open();
  append({"E1"});
  CHECK(other->find("E1").has_value());
  const NewEvent again = make_event("E1");
  CHECK(other->append({&again, 1}).front().status == AppendStatus::duplicate);
}

}  // namespace
}  // namespace waybill::test
