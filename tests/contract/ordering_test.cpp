// Ordering::aggregate: an event waits for every earlier unsettled one of its aggregate outside the same claim.

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

class Ordered : public Contract {
 protected:
  /// One batch; the number's first letter names the aggregate.
  void add(std::initializer_list<const char*> event_nos) {
    std::vector<NewEvent> events;
    for (const char* event_no : event_nos) events.push_back(make_event(event_no, std::string(1, event_no[0])));
    REQUIRE(store->append(events).size() == events.size());
  }

  std::vector<Event> take(std::size_t limit = 100, DeadHead dead_head = DeadHead::block) {
    return store->claim(ordered_request(limit, dead_head)).events;
  }
  Numbers numbers(std::size_t limit = 100, DeadHead dead_head = DeadHead::block) {
    return numbers_of(take(limit, dead_head));
  }
};

TEST_CASE_METHOD(Ordered, "a claim takes a run of one aggregate", "[ordering]") {
  add({"A1", "A2", "A3", "A4", "A5"});
  const auto run = take(3);
  CHECK(numbers_of(run) == Numbers{"A1", "A2", "A3"});
  CHECK(numbers().empty());
  succeed(run[0]);
  succeed(run[1]);
  CHECK(numbers().empty());
  succeed(run[2]);
  CHECK(numbers() == Numbers{"A4", "A5"});
}

TEST_CASE_METHOD(Ordered, "one aggregate does not hold up another", "[ordering]") {
  add({"A1", "A2", "B1"});
  CHECK(numbers(1) == Numbers{"A1"});
  CHECK(numbers() == Numbers{"B1"});
}

TEST_CASE_METHOD(Ordered, "aggregates of different types are different", "[ordering]") {
  add({"A1"});
  NewEvent event = make_event("A2", "A");
  event.aggregate_type = "PAYMENT";
  append(event);
  CHECK(numbers(1) == Numbers{"A1"});
  CHECK(numbers() == Numbers{"A2"});
}

TEST_CASE_METHOD(Ordered, "without ordering nothing waits", "[ordering]") {
  add({"A1", "A2"});
  CHECK(numbers_of(claim(1)) == Numbers{"A1"});
  CHECK(numbers_of(claim(1)) == Numbers{"A2"});
}

TEST_CASE_METHOD(Ordered, "a failed head holds its followers until it is retried, then they go together",
                 "[ordering]") {
  add({"A1", "A2", "A3"});
  fail(take(1).front(), now() + 1min);
  CHECK(numbers().empty());
  clock().advance(1min);
  CHECK(numbers() == Numbers{"A1", "A2", "A3"});
}

TEST_CASE_METHOD(Ordered, "a retry in the middle waits for what is before it", "[ordering]") {
  add({"A1", "A2"});
  const auto run = take();
  fail(run[1], now() + 1s);
  clock().advance(1min);
  CHECK(numbers().empty());  // A1 is in progress
  fail(run[0], now() + 1min);
  CHECK(numbers().empty());  // A1 is not due
  clock().advance(1min);
  CHECK(numbers() == Numbers{"A1", "A2"});
}

TEST_CASE_METHOD(Ordered, "a dead head blocks its aggregate, or is passed", "[ordering]") {
  add({"A1", "A2", "A3"});
  reject(take(1).front());
  CHECK(numbers(100, DeadHead::block).empty());
  CHECK(numbers(100, DeadHead::skip) == Numbers{"A2", "A3"});
}

TEST_CASE_METHOD(Ordered, "only the dead are passed", "[ordering]") {
  add({"A1", "A2", "A3", "A4"});
  const auto run = take(2);
  reject(run[0]);
  SECTION("not those who retry") { fail(run[1], now() + 1min); }
  SECTION("not those in progress") {}
  CHECK(numbers(100, DeadHead::skip).empty());
}

TEST_CASE_METHOD(Ordered, "what ends a dead head lets the others go", "[ordering]") {
  add({"A1", "A2"});
  reject(take(1).front());
  EventFilter head;
  head.event_no = "A1";
  SECTION("cancel") {
    REQUIRE(store->cancel(head, "given up", 1) == 1);
    CHECK(numbers() == Numbers{"A2"});
  }
  SECTION("requeue") {
    REQUIRE(store->requeue(head, 1) == 1);
    CHECK(numbers() == Numbers{"A1", "A2"});
  }
}

TEST_CASE_METHOD(Ordered, "a scheduled head holds its followers until its time", "[ordering]") {
  NewEvent head = make_event("A1", "A");
  head.next_retry_time = now() + 1min;
  append(head);
  add({"A2", "B1"});
  CHECK(numbers() == Numbers{"B1"});
  clock().advance(1min);
  CHECK(numbers() == Numbers{"A1", "A2"});
}

TEST_CASE_METHOD(Ordered, "a released run goes again in its order", "[ordering]") {
  add({"A1", "A2", "A3"});
  const auto run = take();
  release(run[2]);
  release(run[0]);
  CHECK(numbers() == Numbers{"A1"});
  release(run[1]);
  CHECK(numbers().empty());  // A1 is still held
}

TEST_CASE_METHOD(Ordered, "a head that goes elsewhere still holds its followers", "[ordering]") {
  NewEvent head = make_event("A1", "A");
  head.topic = "elsewhere";
  append(head);
  add({"A2", "B1"});
  ClaimRequest request = ordered_request();
  request.routes = {{RoutePattern::parse("order.event"), true}};
  CHECK(numbers_of(store->claim(request).events) == Numbers{"B1"});
  CHECK(numbers() == Numbers{"A1", "A2"});  // what blocked an aggregate and what stood behind it go together
}

TEST_CASE_METHOD(Ordered, "a place lent to a late head does not bring its follower", "[ordering]") {
  // Share 1: the retries' pass takes A1; the pass over new events sees B2 behind B1, which is taken only afterwards.
  add({"A1", "B1"});
  const auto heads = take();
  fail(heads[0], now() + 1s);
  fail(heads[1], now() + 2s);
  add({"A2", "B2"});
  clock().advance(1min);
  CHECK(numbers(4) == Numbers{"A1", "B1", "A2"});
}

TEST_CASE_METHOD(Ordered, "two owners never hold events of one aggregate at once", "[ordering]") {
  add({"A1", "B1", "A2", "B2", "A3", "B3"});
  const auto other = database->open();
  ClaimRequest request = ordered_request(1);
  request.owner = "relay-b";
  CHECK(numbers(1) == Numbers{"A1"});
  CHECK(numbers_of(other->claim(request).events) == Numbers{"B1"});
  CHECK(numbers().empty());
  CHECK(other->claim(request).events.empty());
}

}  // namespace
}  // namespace waybill::test
