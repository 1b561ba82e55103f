#include <algorithm>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

/// One event in each place of its life.
class Querying : public Contract {
 protected:
  Querying() {
    start = now();
    add_in(Status::succeeded, "done");
    add_in(Status::cancelled, "cancelled");
    add_dead("dead");
    add_in(Status::in_progress, "expired");
    clock().advance(20s);
    add_in(Status::in_progress, "held");
    add_in(Status::failed, "retry-due");  // in an hour
    clock().advance(1h);
    const Token token = token_of(get("held"));
    REQUIRE(store->extend({&token, 1}, 1h).front() == SettleStatus::applied);
    NewEvent later = make_event("retry-later");
    append(later);
    const Event claimed = claim_both("retry-due", "retry-later");
    fail(claimed, now() + 1h);
    append_many("scheduled-", 1, 1, now() + 1h);
    append({"new"});
  }

  Numbers ask(const EventFilter& filter) { return numbers_of(store->query(filter, {})); }

  Timestamp start{};

 private:
  /// Claims two, gives the first back to its retry and returns the second.
  Event claim_both(const char* first, const char* second) {
    const auto held = claim();
    REQUIRE(numbers_of(held) == Numbers{first, second});
    fail(held[0], now());
    return held[1];
  }
};

const Numbers kAll{"done", "cancelled", "dead", "expired", "held", "retry-due", "retry-later", "scheduled-1", "new"};

TEST_CASE_METHOD(Querying, "no condition: all, in id order", "[query]") {
  CHECK(ask({}) == kAll);
  for (const Event& event : store->query({}, {})) CHECK(store->find(event.event_no) == event);
}

TEST_CASE_METHOD(Querying, "by status", "[query]") {
  EventFilter filter;
  const auto in = [&](std::vector<Status> statuses) {
    filter.statuses = std::move(statuses);
    return ask(filter);
  };
  CHECK(in({Status::pending}) == Numbers{"scheduled-1", "new"});
  CHECK(in({Status::in_progress}) == Numbers{"expired", "held"});
  CHECK(in({Status::succeeded}) == Numbers{"done"});
  CHECK(in({Status::failed}) == Numbers{"dead", "retry-due", "retry-later"});
  CHECK(in({Status::cancelled}) == Numbers{"cancelled"});
  CHECK(in({Status::cancelled, Status::succeeded}) == Numbers{"done", "cancelled"});
  CHECK(in({Status::failed, Status::pending, Status::in_progress, Status::succeeded, Status::cancelled}) == kAll);
  CHECK(in({Status::failed, Status::failed}) == Numbers{"dead", "retry-due", "retry-later"});
}

TEST_CASE_METHOD(Querying, "dead or not", "[query]") {
  EventFilter filter;
  filter.dead = true;
  CHECK(ask(filter) == Numbers{"dead"});
  filter.dead = false;
  Numbers others = kAll;
  others.erase(std::find(others.begin(), others.end(), "dead"));
  CHECK(ask(filter) == others);
  filter.statuses = {Status::failed};
  CHECK(ask(filter) == Numbers{"retry-due", "retry-later"});
}

TEST_CASE_METHOD(Querying, "due now", "[query]") {
  EventFilter filter;
  filter.due = true;
  CHECK(ask(filter) == Numbers{"retry-due", "new"});
  filter.statuses = {Status::failed};  // the seed's "failed, budget left, time has come"
  CHECK(ask(filter) == Numbers{"retry-due"});
  filter.statuses = {Status::pending};
  CHECK(ask(filter) == Numbers{"new"});
  clock().advance(1h);
  CHECK(ask(filter) == Numbers{"scheduled-1", "new"});
}

TEST_CASE_METHOD(Querying, "lease expired", "[query]") {
  EventFilter filter;
  filter.lease_expired = true;
  CHECK(ask(filter) == Numbers{"expired"});
  clock().advance(1h);
  CHECK(ask(filter) == Numbers{"expired", "held"});
  filter.statuses = {Status::failed};
  CHECK(ask(filter).empty());
}

TEST_CASE_METHOD(Querying, "by number and by time of creation", "[query]") {
  EventFilter filter;
  filter.event_no = "held";
  CHECK(ask(filter) == Numbers{"held"});
  filter.event_no = "nobody";
  CHECK(ask(filter).empty());

  EventFilter times;
  times.created_from = start + 20s;
  times.created_until = start + 1h;
  CHECK(ask(times) == Numbers{"held", "retry-due"});
  times.created_until = start + 20s;
  CHECK(ask(times).empty());
  times.created_from.reset();
  CHECK(ask(times) == Numbers{"done", "cancelled", "dead", "expired"});
}

TEST_CASE_METHOD(Querying, "conditions are joined by and", "[query]") {
  EventFilter filter;
  filter.statuses = {Status::failed, Status::pending};
  filter.due = true;
  filter.created_from = start + 21s;
  filter.topic = "order.event";
  CHECK(ask(filter) == Numbers{"new"});
  filter.topic = "another";
  CHECK(ask(filter).empty());
}

TEST_CASE_METHOD(Querying, "paging forward and back gives each event once", "[query][paging]") {
  const auto walk = [&](Page page, const EventFilter& filter) {
    Numbers seen;
    for (int round = 0; round < 20; ++round) {
      const auto events = store->query(filter, page);
      REQUIRE(events.size() <= page.limit);
      if (events.empty()) return seen;
      for (const Event& event : events) seen.push_back(event.event_no);
      page.after_id = events.back().id;
    }
    FAIL("the pages do not end");
    return seen;
  };
  EventFilter unfinished;
  unfinished.statuses = {Status::pending, Status::in_progress, Status::failed};
  Numbers expected(kAll.begin() + 2, kAll.end());
  Page page;
  for (const std::size_t limit : {1U, 2U, 3U, 100U}) {
    page.limit = limit;
    page.newest_first = false;
    CHECK(walk(page, unfinished) == expected);
    page.newest_first = true;
    CHECK(walk(page, unfinished) == Numbers(expected.rbegin(), expected.rend()));
  }
}

TEST_CASE_METHOD(Querying, "a page of nothing is empty", "[query][paging]") {
  Page page;
  page.limit = 0;
  CHECK(store->query({}, page).empty());
}

TEST_CASE_METHOD(Archiving, "find knows the archive and nothing that is not there", "[query]") {
  CHECK_FALSE(store->find("E1").has_value());
  CHECK_FALSE(store->find("").has_value());
  Event sent = add_in(Status::succeeded, "E1");
  clock().advance(1s);
  REQUIRE(store->archive(now(), 1) == 1);
  sent.archived = true;
  CHECK(get("E1") == sent);
  EventFilter filter;
  filter.event_no = "E1";
  CHECK(store->query(filter, {}).empty());
  clock().advance(1s);
  REQUIRE(store->purge(now(), 1) == 1);
  CHECK_FALSE(store->find("E1").has_value());
}

TEST_CASE_METHOD(Contract, "by what the event is about", "[query]") {
  const auto add = [&](const char* number, auto change) {
    NewEvent event = make_event(number, "42");
    change(event);
    append(event);
  };
  add("E1", [](NewEvent& event) { event.trace_id = "t1"; });
  add("E2", [](NewEvent& event) { event.aggregate_type = "PAYMENT"; });
  add("E3", [](NewEvent& event) { event.aggregate_id = "43"; });
  add("E4", [](NewEvent& event) { event.event_type = "ORDER_PAID"; });
  add("E5", [](NewEvent& event) { event.topic = "other"; });
  add("E6", [](NewEvent& event) { event.topic.reset(); });
  add("E7", [](NewEvent& event) { event.publish_channel = "HTTP"; });
  const auto ask = [&](auto change) {
    EventFilter filter;
    change(filter);
    return numbers_of(store->query(filter, {}));
  };
  CHECK(ask([](EventFilter& f) { f.trace_id = "t1"; }) == Numbers{"E1"});
  CHECK(ask([](EventFilter& f) { f.aggregate_type = "PAYMENT"; }) == Numbers{"E2"});
  CHECK(ask([](EventFilter& f) { f.aggregate_id = "43"; }) == Numbers{"E3"});
  CHECK(ask([](EventFilter& f) {
          f.aggregate_type = "ORDER";
          f.aggregate_id = "42";
        }) == Numbers{"E1", "E4", "E5", "E6", "E7"});
  CHECK(ask([](EventFilter& f) { f.event_type = "ORDER_PAID"; }) == Numbers{"E4"});
  CHECK(ask([](EventFilter& f) { f.topic = "other"; }) == Numbers{"E5"});
  CHECK(ask([](EventFilter& f) { f.topic = ""; }).empty());  // no topic is not the empty one
  CHECK(ask([](EventFilter& f) { f.publish_channel = "HTTP"; }) == Numbers{"E7"});
  CHECK(ask([](EventFilter& f) { f.trace_id = "' OR 1=1 --"; }).empty());
}

TEST_CASE_METHOD(Contract, "failed by topic, newest first, and failed often", "[query]") {
  for (int i = 1; i <= 3; ++i) {
    NewEvent event = make_event("E" + std::to_string(i));
    event.topic = i == 2 ? "other" : "order.event";
    append(event);
  }
  for (int round = 1; round <= 3; ++round) {
    for (const Event& event : claim()) fail(event, now() + 1s + 1h * (event.event_no == "E1"));
    clock().advance(1min);
  }
  EventFilter by_topic;
  by_topic.statuses = {Status::failed};
  by_topic.topic = "order.event";
  Page newest;
  newest.newest_first = true;
  CHECK(numbers_of(store->query(by_topic, newest)) == Numbers{"E3", "E1"});
  EventFilter often;
  often.min_retry_count = 3;
  CHECK(numbers_of(store->query(often, {})) == Numbers{"E2", "E3"});
  often.min_retry_count = 4;
  CHECK(store->query(often, {}).empty());
}

}  // namespace
}  // namespace waybill::test
