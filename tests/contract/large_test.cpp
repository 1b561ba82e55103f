// Thousands of events that can't be claimed in front of some that can. A store may stop looking early, but then it says
// so (`more`); and what others make claimable far in front is found within a minute.

#include <algorithm>
#include <map>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

class Large : public Contract {
 protected:
  static constexpr int kAggregates = 600;
  static constexpr int kFollowers = 4;

  static std::string aggregate(int i) { return "id" + std::to_string(i); }

  /// Each aggregate has a failed head, due in an hour, and followers behind it.
  void block_aggregates() {
    std::vector<NewEvent> heads;
    std::vector<NewEvent> followers;
    for (int i = 0; i < kAggregates; ++i) heads.push_back(make_event("H" + std::to_string(i), aggregate(i)));
    for (int k = 0; k < kFollowers; ++k)
      for (int i = 0; i < kAggregates; ++i)
        followers.push_back(make_event("F" + std::to_string(i) + "-" + std::to_string(k), aggregate(i)));
    REQUIRE(store->append(heads).size() == heads.size());
    std::vector<Settlement> failures;
    for (const Event& event : store->claim(ordered_request(kAggregates)).events)
      failures.push_back({token_of(event), Command::fail, now() + 1h, "down", false});
    REQUIRE(failures.size() == heads.size());
    REQUIRE(store->settle(failures).size() == failures.size());
    REQUIRE(store->append(followers).size() == followers.size());
  }

  /// Claims and succeeds until the store has no more; checks that each aggregate's events come in order.
  Numbers drain(const ClaimRequest& request) {
    std::map<std::string, std::int64_t> last;
    Numbers taken;
    std::vector<Settlement> done;
    for (int round = 0; round < 1000; ++round) {
      const ClaimResult result = store->exchange(done, request).claimed;
      done.clear();
      for (const Event& event : result.events) {
        taken.push_back(event.event_no);
        if (request.ordering == Ordering::aggregate) {
          INFO(event.event_no);
          REQUIRE(event.id > last[event.aggregate_id]);
        }
        last[event.aggregate_id] = event.id;
        done.push_back({token_of(event), Command::succeed, {}, "", false});
      }
      if (result.events.empty() && !result.more) return taken;
    }
    FAIL("the store always has more");
    return taken;
  }

  Numbers sorted_drain(const ClaimRequest& request) {
    Numbers numbers = drain(request);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
};

TEST_CASE_METHOD(Large, "blocked aggregates in front hide nobody", "[claim][ordering][large]") {
  block_aggregates();
  append({"Z1", "Z2"});
  CHECK(drain(ordered_request(50)) == Numbers{"Z1", "Z2"});
  append({"Z3"});
  CHECK(drain(ordered_request(50)) == Numbers{"Z3"});

  clock().advance(1h);  // all heads are due
  const auto rest = drain(ordered_request(50));
  CHECK(rest.size() == kAggregates * (kFollowers + 1));
  CHECK(store->backlog().depth() == 0);
}

TEST_CASE_METHOD(Large, "what others unblock far in front is found", "[claim][ordering][large]") {
  block_aggregates();
  append({"Z1"});
  CHECK(drain(ordered_request(50)) == Numbers{"Z1"});

  const auto other = database->open();
  EventFilter head;
  head.event_no = "H17";
  SECTION("cancelled by another connection") { REQUIRE(other->cancel(head, "given up", 1) == 1); }
  SECTION("cancelled by this one") { REQUIRE(store->cancel(head, "given up", 1) == 1); }
  clock().advance(1min);
  CHECK(drain(ordered_request(50)) == Numbers{"F17-0", "F17-1", "F17-2", "F17-3"});
}

TEST_CASE_METHOD(Large, "what others retry far in front is found", "[claim][ordering][large]") {
  block_aggregates();
  CHECK(drain(ordered_request(50)).empty());
  const auto other = database->open();
  EventFilter head;
  head.event_no = "H300";
  REQUIRE(other->requeue(head, 1) == 1);
  ClaimRequest one = ordered_request(1);
  one.owner = "relay-b";
  const auto retried = other->claim(one).events;
  REQUIRE(numbers_of(retried) == Numbers{"H300"});
  CHECK(drain(ordered_request(50)).empty());
  const Settlement done{token_of(retried.front()), Command::succeed, {}, "", false};
  REQUIRE(other->settle({&done, 1}).front() == SettleStatus::applied);
  clock().advance(1min);
  CHECK(drain(ordered_request(50)) == Numbers{"F300-0", "F300-1", "F300-2", "F300-3"});
}

TEST_CASE_METHOD(Large, "events without a route in front hide nobody", "[claim][routes][large]") {
  append_many("E", 1, 2500);
  NewEvent event = make_event("X1");
  event.topic = "other";
  append(event);
  ClaimRequest request = claim_request(10);
  request.routes = {{RoutePattern::parse("other"), true}};
  CHECK(drain(request) == Numbers{"X1"});
  event.event_no = "X2";
  append(event);
  CHECK(drain(request) == Numbers{"X2"});

  request.routes.push_back({RoutePattern::parse("*"), true});
  CHECK(drain(request).size() == 2500);
}

TEST_CASE_METHOD(Large, "what others give back far in front is found", "[claim][routes][large]") {
  NewEvent event = make_event("X1");
  event.topic = "other";
  append_many("E", 1, 1200);
  append(event);
  append_many("E", 1201, 2500);
  ClaimRequest request = claim_request(10);
  request.routes = {{RoutePattern::parse("other"), true}};
  const auto other = database->open();
  std::vector<Event> held;
  for (int round = 0; round < 100 && held.empty(); ++round) held = other->claim(request).events;
  REQUIRE(numbers_of(held) == Numbers{"X1"});
  CHECK(drain(request).empty());
  const Settlement back{token_of(held.front()), Command::release, {}, "", false};
  REQUIRE(other->settle({&back, 1}).front() == SettleStatus::applied);
  clock().advance(1min);
  CHECK(drain(request) == Numbers{"X1"});
}

TEST_CASE_METHOD(Large, "retries and scheduled events that nobody takes hide nobody", "[claim][routes][large]") {
  append_many("R", 1, 1500);
  std::vector<Settlement> failures;
  for (const Event& event : store->claim(claim_request(1500)).events)
    failures.push_back({token_of(event), Command::fail, now() + 1s, "down", false});
  REQUIRE(store->settle(failures).size() == 1500);
  append_many("S", 1, 1500, now() + 2s);
  NewEvent retry = make_event("X1");
  retry.topic = "other";
  append(retry);
  ClaimRequest request = claim_request(10);
  request.routes = {{RoutePattern::parse("other"), true}};
  for (const Event& event : store->claim(request).events) REQUIRE(fail(event, now() + 3s) == SettleStatus::applied);
  NewEvent scheduled = retry;
  scheduled.event_no = "X2";
  scheduled.next_retry_time = now() + 4s;
  append(scheduled);
  clock().advance(1min);
  CHECK(sorted_drain(request) == Numbers{"X1", "X2"});
}

}  // namespace
}  // namespace waybill::test
