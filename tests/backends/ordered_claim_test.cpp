// Ordered and filtered claims with thousands of events in front that may not be taken: the claim stops early, remembers
// where, sweeps and follows hints (sqlite_claim.hpp). Nothing may be lost by that, and no order broken.

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "backends/ordered_world.hpp"

namespace waybill::test {
namespace {

std::uint64_t pick_seed() {
  const char* given = std::getenv("WAYBILL_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

void run_world(WorldOptions options, int steps) {
  options.seed = pick_seed();
  INFO("repeat with WAYBILL_TEST_SEED=" << options.seed);
  OrderedWorld world(options);
  if (options.start_with_one_down || options.all_timed) world.check_all_found();
  while (world.steps() < steps) {
    world.step();
    if (world.steps() % 60 == 0) world.check_all_found();
  }
  world.check_all_found();
  world.drain();
  CHECK(world.claimed() > 500);
  CHECK(world.claims_that_stopped_early() > 0);
}

TEST_CASE("ordered claims of two relays beside thousands of blocked events, random commands") { run_world({}, 180); }

TEST_CASE("ordered claims that pass dead heads, random commands") {
  WorldOptions options;
  options.dead_head = DeadHead::skip;
  run_world(options, 120);
}

TEST_CASE("claims without order beside thousands of events on a route that is down, random commands") {
  WorldOptions options;
  options.ordering = Ordering::none;
  options.topics = 2;
  options.start_with_one_down = true;
  run_world(options, 120);
}

TEST_CASE("ordered claims with one route filter all the time, random commands") {
  WorldOptions options;
  options.change_routes = false;
  options.followers = 90;
  run_world(options, 120);
}

TEST_CASE("ordered claims of thousands of retries and scheduled events in no order, random commands") {
  WorldOptions options;
  options.all_timed = true;
  options.blocked_aggregates = 3;
  options.followers = 5;
  options.healthy_aggregates = 12;
  options.healthy_events = 260;
  run_world(options, 120);
}

// --- Single cases ---

/// A store with `count` followers behind a head that is held.
class Blocked {
 protected:
  void block(int count) {
    store = file.create();
    append(*store, make_event("head", "hot"));
    head = store->claim(ordered_request(1)).events.at(0);
    std::vector<NewEvent> events;
    for (int i = 1; i <= count; ++i) events.push_back(make_event("F" + std::to_string(i), "hot"));
    (void)store->append(events);
  }
  /// Claims while there is more, with time going on when there is not.
  Numbers claim_all(IEventRepository& repository, int claims) {
    Numbers numbers;
    for (int i = 0; i < claims; ++i) {
      const ClaimResult result = repository.claim(ordered_request(10, "relay-b"));
      for (const Event& event : result.events) numbers.push_back(event.event_no);
      if (!result.more && result.events.empty()) file.clock->advance(61s);
    }
    return numbers;
  }

  StoreFile file;
  std::unique_ptr<IEventRepository> store;
  Event head;
};

TEST_CASE_METHOD(Blocked, "what stands behind thousands of blocked events is found by a few claims") {
  block(5000);
  append(*store, make_event("free"));
  int claims = 0;
  for (bool found = false; !found; ++claims) {
    REQUIRE(claims < 10);
    const ClaimResult result = store->claim(ordered_request(10));
    found = numbers_of(result.events) == Numbers{"free"};
    REQUIRE((found || result.more));
  }
  append(*store, make_event("next"));  // the later ones at once: the claim goes on where it stopped
  CHECK(numbers_of(store->claim(ordered_request(10)).events) == Numbers{"next"});
}

TEST_CASE_METHOD(Blocked, "followers of a head that this relay settles come at once") {
  block(3000);
  while (store->claim(ordered_request(10)).more) {
  }
  REQUIRE(succeed(*store, head) == SettleStatus::applied);
  CHECK(numbers_of(store->claim(ordered_request(3)).events) == Numbers{"F1", "F2", "F3"});
  CHECK(numbers_of(store->claim(ordered_request(3)).events).empty());  // held together, as a run
}

TEST_CASE_METHOD(Blocked, "followers of a head that another settles are found by the sweep") {
  block(3000);
  const auto other = file.open();
  CHECK(claim_all(*other, 20).empty());
  REQUIRE(succeed(*store, head) == SettleStatus::applied);
  const Numbers found = claim_all(*other, 10);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front() == "F1");
}

TEST_CASE_METHOD(Blocked, "a follower far behind the front, that another sets free, is found by the sweep") {
  block(1500);
  append(*store, make_event("second head", "other"));
  append(*store, make_event("second follower", "other"));
  for (const std::string prefix : {"G", "H"}) {
    std::vector<NewEvent> events;
    for (int i = 1; i <= 900; ++i) events.push_back(make_event(prefix + std::to_string(i), "hot"));
    (void)store->append(events);
  }
  Event second;
  while (second.id == 0)
    for (const Event& event : store->claim(ordered_request(1)).events) second = event;
  REQUIRE(second.event_no == "second head");
  const auto other = file.open();
  CHECK(claim_all(*other, 20).empty());
  REQUIRE(succeed(*store, second) == SettleStatus::applied);
  CHECK(claim_all(*other, 20) == Numbers{"second follower"});
}

TEST_CASE_METHOD(Blocked, "followers of a head that this relay's operator cancels come at once") {
  block(3000);
  REQUIRE(settle(*store, settlement_of(head, Command::reject)) == SettleStatus::applied);
  while (store->claim(ordered_request(10)).more) {
  }
  EventFilter dead;
  dead.dead = true;
  REQUIRE(store->cancel(dead, "not wanted", 1) == 1);
  CHECK(numbers_of(store->claim(ordered_request(3)).events) == Numbers{"F1", "F2", "F3"});
}

TEST_CASE_METHOD(Blocked, "a requeue or cancel by another relay's hand is found too") {
  block(3000);
  const auto other = file.open();
  Settlement rejected = settlement_of(head, Command::reject);
  REQUIRE(settle(*store, rejected) == SettleStatus::applied);
  CHECK(claim_all(*other, 20).empty());
  EventFilter filter;
  filter.event_no = "head";
  SECTION("requeue") {
    REQUIRE(store->requeue(filter, 1) == 1);
    CHECK(claim_all(*other, 3).front() == "head");
  }
  SECTION("cancel") {
    REQUIRE(store->cancel(filter, "not wanted", 1) == 1);
    CHECK(claim_all(*other, 10).front() == "F1");
  }
}

TEST_CASE_METHOD(Blocked, "an event that a program gives a smaller id is found") {
  require_works(*file.create(), "gone");  // its id will be free
  file.clock->advance(1h);
  REQUIRE(file.open()->purge(file.clock->now(), 1) == 1);
  block(3000);
  CHECK(claim_all(*store, 10).empty());
  file.other_program().exec(
      "INSERT INTO biz_outbox_event (id, event_no, aggregate_type, aggregate_id, event_type, event_source, "
      "publish_channel, event_payload) VALUES (1, 'early', 'ORDER', 'x', 'CREATED', 'plain', 'MQ', '{}')");
  const Numbers found = claim_all(*store, 10);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front() == "early");
}

TEST_CASE_METHOD(Blocked, "free places go to due heads, followers waiting behind them or not") {
  store = file.create();
  for (int i = 1; i <= 5; ++i) append(*store, make_event("H" + std::to_string(i), "a" + std::to_string(i)));
  for (const Event& event : store->claim(ordered_request()).events) {
    Settlement failed = settlement_of(event, Command::fail);
    failed.next_retry_time = file.clock->now();
    REQUIRE(settle(*store, failed) == SettleStatus::applied);
  }
  for (int i = 1; i <= 5; ++i) append(*store, make_event("F" + std::to_string(i), "a" + std::to_string(i)));
  ClaimRequest request = ordered_request(10);
  request.retry_percent = GENERATE(0u, 10u, 25u);
  const Numbers claimed = numbers_of(store->claim(request).events);  // the heads, and what is free then
  for (int i = 1; i <= 5; ++i) CHECK(std::count(claimed.begin(), claimed.end(), "H" + std::to_string(i)) == 1);
}

TEST_CASE_METHOD(Blocked, "thousands of blocked retries in front hide no free one") {
  store = file.create();
  append(*store, make_event("head", "hot"));
  std::vector<NewEvent> events;
  for (int i = 1; i <= 2500; ++i) events.push_back(make_event("F" + std::to_string(i), "hot"));
  (void)store->append(events);
  append(*store, make_event("free"));
  // All claimed as one run, all failed and due, the first of them last: it is behind the others by its time.
  std::vector<Settlement> settlements;
  for (const Event& event : store->claim(ordered_request(5000)).events) {
    Settlement failed = settlement_of(event, Command::fail);
    failed.next_retry_time = file.clock->now() + 1us * (event.event_no == "free" ? 2 : 1);
    if (event.event_no == "head") failed.next_retry_time = file.clock->now() + 1h;
    settlements.push_back(failed);
  }
  REQUIRE(settlements.size() == 2502);
  (void)store->settle(settlements);
  file.clock->advance(1s);
  const Numbers found = claim_all(*store, 8);
  CHECK(found == Numbers{"free"});
}

}  // namespace
}  // namespace waybill::test
