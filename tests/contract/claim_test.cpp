#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

/// What a claim does to a stored event.
Event as_claimed(Event event, const ClaimRequest& request, Timestamp now) {
  event.publish_status = Status::in_progress;
  ++event.version;
  event.locked_by = request.owner;
  event.lock_until = now + request.lease;
  event.last_publish_time = now;
  event.update_time = now;
  return event;
}

TEST_CASE_METHOD(Contract, "an empty store gives nothing", "[claim]") {
  const ClaimResult result = store->claim(claim_request());
  CHECK(result.events.empty());
  CHECK_FALSE(result.more);
  CHECK_FALSE(result.next_due.has_value());
}

TEST_CASE_METHOD(Contract, "a claim locks the event for its owner", "[claim]") {
  append({"E1"});
  const Event before = get("E1");
  clock().advance(3s);
  ClaimRequest request = claim_request();
  request.owner = std::string(128, 'o');
  request.lease = 90s;

  const ClaimResult result = store->claim(request);
  REQUIRE(result.events.size() == 1);
  CHECK(result.events.front() == as_claimed(before, request, now()));
  CHECK(get("E1") == result.events.front());
  reopen();
  CHECK(get("E1") == result.events.front());
}

TEST_CASE_METHOD(Contract, "a claim takes the oldest, up to its limit, in id order", "[claim]") {
  append({"E5", "E4", "E3"});
  append({"E2", "E1"});
  CHECK(numbers_of(claim(2)) == Numbers{"E5", "E4"});
  CHECK(numbers_of(claim(1)) == Numbers{"E3"});
  CHECK(numbers_of(claim(10)) == Numbers{"E2", "E1"});
  CHECK(claim(10).empty());
}

TEST_CASE_METHOD(Contract, "what one holds nobody else gets", "[claim]") {
  append({"E1", "E2"});
  const auto other = database->open();
  CHECK(numbers_of(claim(1, "a")) == Numbers{"E1"});
  CHECK(numbers_of(other->claim(claim_request(10, "b")).events) == Numbers{"E2"});
  CHECK(other->claim(claim_request(10, "b")).events.empty());
  clock().advance(1h);  // an expired lease is for recovery, not for claims
  CHECK(claim(10, "a").empty());
  CHECK(get("E1").locked_by == "a");
  CHECK(get("E2").locked_by == "b");
}

TEST_CASE_METHOD(Contract, "finished and dead events are not claimed", "[claim]") {
  add_in(Status::succeeded, "E1");
  add_in(Status::cancelled, "E2");
  add_dead("E3");
  clock().advance(24h * 365);
  const ClaimResult result = store->claim(claim_request());
  CHECK(result.events.empty());
  CHECK_FALSE(result.next_due.has_value());
}

TEST_CASE_METHOD(Contract, "a scheduled event waits for its time and keeps it", "[claim]") {
  NewEvent event = make_event("E1");
  event.next_retry_time = now() + 10s;
  append(event);
  CHECK(store->claim(claim_request()).next_due == now() + 10s);
  clock().advance(10s - 1us);
  CHECK(claim().empty());
  clock().advance(1us);
  const Event claimed = claim_one("E1");
  CHECK(claimed.next_retry_time == event.next_retry_time);
}

TEST_CASE_METHOD(Contract, "a failed event waits for its next retry", "[claim]") {
  append({"E1"});
  const Event first = claim_one("E1");
  const Timestamp again = now() + 1min;
  fail(first, again);
  CHECK(store->claim(claim_request()).next_due == again);
  clock().set(again);
  const Event second = claim_one("E1");
  CHECK(second.version == first.version + 1);
  CHECK(second.retry_count == 1);
  CHECK(second.next_retry_time == again);
  CHECK(second.fail_reason == "refused");
}

TEST_CASE_METHOD(Contract, "next_due is the earliest of the retries and the scheduled", "[claim]") {
  const Timestamp start = now();
  add_in(Status::failed, "E1");  // in an hour
  append_many("S", 1, 1, start + 30min);
  append_many("S", 2, 2, start + 20min);
  CHECK(store->claim(claim_request()).next_due == start + 20min);
  clock().set(start + 20min);
  CHECK(store->claim(claim_request()).next_due == start + 30min);
  clock().set(start + 30min);
  CHECK(store->claim(claim_request()).next_due == start + 1h);
}

TEST_CASE_METHOD(Contract, "a full claim says nothing of the next time", "[claim]") {
  append({"E1", "E2"});
  append_many("S", 1, 1, now() + 1min);
  CHECK_FALSE(store->claim(claim_request(2)).next_due.has_value());
  CHECK(store->claim(claim_request(2)).next_due == now() + 1min);
}

TEST_CASE_METHOD(Contract, "a claim request must make sense", "[claim]") {
  append({"E1"});
  ClaimRequest request = claim_request();
  SECTION("no owner") { request.owner.clear(); }
  SECTION("owner too long") { request.owner = std::string(129, 'o'); }
  SECTION("limit 0") { request.limit = 0; }
  SECTION("no lease") { request.lease = 0s; }
  try {
    (void)store->claim(request);
    FAIL("no exception");
  } catch (const StorageError& error) {
    CHECK(error.code() == ErrorCode::invalid);
  }
  CHECK(status_of("E1") == Status::pending);
}

RouteRule rule(const char* pattern, bool take = true) { return {RoutePattern::parse(pattern), take}; }

TEST_CASE_METHOD(Contract, "routes say what a claim may take", "[claim][routes]") {
  const auto add = [&](const char* number, const char* channel, std::optional<std::string> topic) {
    NewEvent event = make_event(number);
    event.publish_channel = channel;
    event.topic = std::move(topic);
    append(event);
  };
  add("E1", "MQ", "order.created");
  add("E2", "HTTP", "order.created");
  add("E3", "MQ", "user.created");
  add("E4", "MQ", std::nullopt);
  ClaimRequest request = claim_request();

  SECTION("none: everything") { CHECK(store->claim(request).events.size() == 4); }
  SECTION("topic") {
    request.routes = {rule("order.*")};
    CHECK(numbers_of(store->claim(request).events) == Numbers{"E1", "E2"});
  }
  SECTION("channel") {
    request.routes = {rule("HTTP:*")};
    CHECK(numbers_of(store->claim(request).events) == Numbers{"E2"});
  }
  SECTION("no topic matches only what matches the empty text") {
    request.routes = {rule("?*"), rule("HTTP:*")};
    CHECK(numbers_of(store->claim(request).events) == Numbers{"E1", "E2", "E3"});
  }
  SECTION("the first match decides") {
    request.routes = {rule("MQ:order.*", false), rule("order.*"), rule("MQ:*")};
    CHECK(numbers_of(store->claim(request).events) == Numbers{"E2", "E3", "E4"});
  }
  SECTION("left alone, taken later") {
    request.routes = {rule("*:*", false)};
    CHECK(store->claim(request).events.empty());
    request.routes = {rule("*:*")};
    CHECK(store->claim(request).events.size() == 4);
  }
}

TEST_CASE_METHOD(Contract, "routes hold for retries and scheduled events too", "[claim][routes]") {
  for (const char* topic : {"keep.me", "take.me"}) {
    NewEvent event = make_event(std::string("R-") + topic);
    event.topic = topic;
    add_in(Status::failed, event);
  }
  for (const char* topic : {"keep.me", "take.me"}) {
    NewEvent event = make_event(std::string("S-") + topic);
    event.topic = topic;
    event.next_retry_time = now() + 1min;
    append(event);
  }
  clock().advance(2h);
  ClaimRequest request = claim_request();
  request.routes = {rule("take.*")};
  CHECK(numbers_of(store->claim(request).events) == Numbers{"R-take.me", "S-take.me"});
}

TEST_CASE_METHOD(Contract, "what is due and left alone is no next time", "[claim][routes]") {
  append_many("R", 1, 1);
  fail(claim_one("R1"), now() + 1min);
  append_many("S", 1, 1, now() + 1min);
  clock().advance(1min);
  ClaimRequest request = claim_request();
  request.routes = {rule("*", false)};
  const ClaimResult result = store->claim(request);
  CHECK(result.events.empty());
  CHECK_FALSE(result.next_due.has_value());
}

TEST_CASE_METHOD(Contract, "events without a route do not use up the limit", "[claim][routes]") {
  append_many("E", 1, 30);
  NewEvent event = make_event("X");
  event.topic = "other";
  append(event);
  ClaimRequest request = claim_request(10);
  request.routes = {rule("other")};
  CHECK(numbers_of(store->claim(request).events) == Numbers{"X"});
}

}  // namespace
}  // namespace waybill::test
