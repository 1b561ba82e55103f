#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

/// One event of each state, changed at `start`; a minute has gone by.
class Upkeep : public Contract {
 protected:
  explicit Upkeep(const std::vector<StoreKind>& kinds = store_kinds()) : Contract(kinds) {
    add_in(Status::succeeded, "done");
    add_in(Status::cancelled, "cancelled");
    add_dead("dead");
    add_in(Status::failed, "retry");
    add_in(Status::in_progress, "held");
    append({"new"});
    clock().advance(1min);
  }

  static EventFilter only(const char* event_no) {
    EventFilter filter;
    filter.event_no = event_no;
    return filter;
  }

  std::vector<Event> all() { return store->query({}, {}); }
};

class UpkeepWithArchive : public Upkeep {
 protected:
  UpkeepWithArchive() : Upkeep(archiving_kinds()) {}
};

TEST_CASE_METHOD(Upkeep, "requeue takes failed events back with a fresh budget", "[upkeep][requeue]") {
  for (const char* number : {"dead", "retry"}) {
    Event expected = get(number);
    expected.publish_status = Status::pending;
    expected.retry_count = 0;
    expected.next_retry_time = now();
    expected.update_time = now();
    CHECK(store->requeue(only(number), 10) == 1);
    CHECK(get(number) == expected);
    CHECK(store->requeue(only(number), 10) == 0);
  }
  CHECK(numbers_of(claim()) == Numbers{"dead", "retry", "new"});
}

TEST_CASE_METHOD(Upkeep, "requeue leaves all but failed events alone", "[upkeep][requeue]") {
  const auto before = all();
  for (const char* number : {"done", "cancelled", "held", "new", "nobody"})
    CHECK(store->requeue(only(number), 10) == 0);
  CHECK(all() == before);
}

TEST_CASE_METHOD(Upkeep, "requeue by filter, oldest first, in bounded bites", "[upkeep][requeue]") {
  CHECK(store->requeue({}, 0) == 0);
  CHECK(store->requeue({}, 1) == 1);
  CHECK(status_of("dead") == Status::pending);
  CHECK(status_of("retry") == Status::failed);
  CHECK(store->requeue({}, 1) == 1);
  CHECK(store->requeue({}, 1) == 0);
}

TEST_CASE_METHOD(Upkeep, "requeue of the dead only", "[upkeep][requeue]") {
  EventFilter dead;
  dead.dead = true;
  CHECK(store->requeue(dead, 10) == 1);
  CHECK(status_of("retry") == Status::failed);
}

TEST_CASE_METHOD(Upkeep, "cancel ends pending and failed events", "[upkeep][cancel]") {
  for (const char* number : {"dead", "retry", "new"}) {
    Event expected = get(number);
    expected.publish_status = Status::cancelled;
    expected.fail_reason = "not needed";
    expected.update_time = now();
    CHECK(store->cancel(only(number), "not needed", 10) == 1);
    CHECK(get(number) == expected);
  }
  clock().advance(24h);
  CHECK(claim().empty());
}

TEST_CASE_METHOD(Upkeep, "cancel leaves finished and running events alone", "[upkeep][cancel]") {
  const auto before = all();
  for (const char* number : {"done", "cancelled", "held", "nobody"}) CHECK(store->cancel(only(number), "no", 10) == 0);
  CHECK(all() == before);
}

TEST_CASE_METHOD(Upkeep, "cancel by filter, oldest first, in bounded bites", "[upkeep][cancel]") {
  EventFilter failed;
  failed.statuses = {Status::failed, Status::in_progress};
  CHECK(store->cancel(failed, "outage", 1) == 1);
  CHECK(status_of("dead") == Status::cancelled);
  CHECK(status_of("retry") == Status::failed);
  CHECK(store->cancel(failed, "outage", 10) == 1);
  CHECK(store->cancel(failed, "outage", 10) == 0);
  CHECK(status_of("new") == Status::pending);
  CHECK(status_of("held") == Status::in_progress);
}

TEST_CASE_METHOD(Upkeep, "a reason to cancel is kept to 1000 characters", "[upkeep][cancel]") {
  REQUIRE(store->cancel(only("new"), std::string(1500, 'x'), 1) == 1);
  CHECK(get("new").fail_reason == std::string(1000, 'x'));
}

TEST_CASE_METHOD(UpkeepWithArchive, "archive moves finished events and nothing else", "[upkeep][archive]") {
  const auto before = all();
  CHECK(store->archive(now(), 100) == 2);
  CHECK(store->archive(now(), 100) == 0);
  CHECK(numbers_of(all()) == Numbers{"dead", "retry", "held", "new"});
  CHECK(store->stats({}).archived == 2);
  for (Event event : before) {
    event.archived = event.publish_status == Status::succeeded || event.publish_status == Status::cancelled;
    CHECK(get(event.event_no) == event);
  }
  reopen();
  CHECK(get("done").archived);
}

TEST_CASE_METHOD(UpkeepWithArchive, "archive goes by the last change and stops at its limit", "[upkeep][archive]") {
  add_in(Status::cancelled, "late");
  CHECK(store->archive(now() - 1min, 100) == 0);  // changed exactly then: not before
  CHECK(store->archive(now(), 0) == 0);
  CHECK(store->archive(now(), 1) == 1);
  CHECK(get("done").archived);
  CHECK(store->archive(now(), 100) == 1);
  CHECK(get("cancelled").archived);
  CHECK_FALSE(get("late").archived);
  CHECK(store->archive(now() + 1us, 100) == 1);
}

TEST_CASE_METHOD(UpkeepWithArchive, "purge removes finished events, archived ones first", "[upkeep][purge]") {
  REQUIRE(store->archive(now(), 1) == 1);  // "done"
  CHECK(store->purge(now(), 0) == 0);
  CHECK(store->purge(now(), 1) == 1);
  CHECK_FALSE(store->find("done").has_value());
  CHECK(store->find("cancelled").has_value());
  CHECK(store->purge(now(), 100) == 1);
  CHECK_FALSE(store->find("cancelled").has_value());
  CHECK(store->purge(now(), 100) == 0);
  CHECK(store->stats({}).archived == 0);
  CHECK(store->stats({}).purged == 2);
}

TEST_CASE_METHOD(UpkeepWithArchive, "purge goes by the last change, archived or not", "[upkeep][purge]") {
  REQUIRE(store->archive(now(), 1) == 1);
  CHECK(store->purge(now() - 1min, 100) == 0);
  add_in(Status::cancelled, "late");
  CHECK(store->purge(now(), 100) == 2);
  CHECK(store->find("late").has_value());
}

TEST_CASE_METHOD(Upkeep, "purge never touches what is not finished", "[upkeep][purge]") {
  clock().advance(24h * 3650);
  CHECK(store->purge(now(), 100) == 2);
  CHECK(numbers_of(all()) == Numbers{"dead", "retry", "held", "new"});
}

}  // namespace
}  // namespace waybill::test
