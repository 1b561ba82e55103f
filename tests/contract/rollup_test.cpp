// The daily counts: which events are in them, and that nothing is lost on the way.

#include <future>
#include <ostream>

#include "contract/contract_fixture.hpp"

namespace waybill {

std::ostream& operator<<(std::ostream& out, const DailyCount& line) {
  return out << format_day(line.day) << ' ' << line.event_type << ' ' << to_string(line.status) << ' ' << line.count;
}
std::ostream& operator<<(std::ostream& out, const RollupResult& result) {
  return out << result.days << (result.more ? " and more" : "");
}

}  // namespace waybill

namespace waybill::test {
namespace {

using Lines = std::vector<DailyCount>;
constexpr std::chrono::days kDay{1};

/// The clock stands at noon of the fourth of four days.
class Rollup : public Contract {
 protected:
  explicit Rollup(const std::vector<StoreKind>& kinds = archiving_kinds()) : Contract(kinds), today(day_of(now())) {
    clock().set(today + 12h);
  }

  [[nodiscard]] static NewEvent created(std::string number, Timestamp time, std::string type = "ORDER_CREATED") {
    NewEvent event = make_event(std::move(number));
    event.create_time = time;
    event.event_type = std::move(type);
    return event;
  }
  [[nodiscard]] DailyCount line(int days_ago, Status status, std::uint64_t count,
                                std::string type = "ORDER_CREATED") const {
    return {today - days_ago * kDay, std::move(type), status, count};
  }
  [[nodiscard]] static EventFilter only(std::string number) {
    EventFilter filter;
    filter.event_no = std::move(number);
    return filter;
  }
  /// Rolls up all there is; how many days changed.
  std::size_t roll_up() {
    std::size_t days = 0;
    for (int call = 0; call < 20; ++call) {
      const RollupResult result = store->rollup(2);
      days += result.days;
      if (!result.more) return days;
    }
    FAIL("there is always more to roll up");
    return days;
  }
  Lines days() { return store->daily_stats({}); }

  Day today;
};

TEST_CASE_METHOD(Rollup, "an empty store has no days", "[rollup]") {
  CHECK(days().empty());
  CHECK(store->rollup(10) == RollupResult{});
  CHECK(days().empty());
}

TEST_CASE_METHOD(Rollup, "events are counted by day, type and status, the dead as failed", "[rollup]") {
  add_in(Status::succeeded, created("E1", today - kDay));
  add_in(Status::succeeded, created("E2", today - kDay));
  add_in(Status::cancelled, created("E3", today - kDay));
  add_in(Status::failed, created("E4", today - kDay));
  add_dead("E5");
  add_in(Status::in_progress, created("E6", today - kDay));
  add_in(Status::pending, created("E7", today - kDay, "ORDER_PAID"));
  CHECK(days().empty());  // as of the last rollup
  CHECK(store->rollup(10) == RollupResult{2, false});
  CHECK(days() == Lines{line(1, Status::in_progress, 1), line(1, Status::succeeded, 2), line(1, Status::failed, 1),
                        line(1, Status::cancelled, 1), line(1, Status::pending, 1, "ORDER_PAID"),
                        line(0, Status::failed, 1)});
  reopen();
  CHECK(days().size() == 6);
}

TEST_CASE_METHOD(Rollup, "a rollup again changes nothing", "[rollup]") {
  add_in(Status::succeeded, created("E1", today - kDay));
  append(created("E2", today + 1h));
  REQUIRE(store->rollup(10) == RollupResult{2, false});
  const Lines before = days();
  CHECK(store->rollup(10) == RollupResult{});
  clock().advance(24h);
  CHECK(store->rollup(10) == RollupResult{});
  CHECK(days() == before);
}

TEST_CASE_METHOD(Rollup, "a day goes from midnight to midnight, UTC, in every year", "[rollup]") {
  const Day other = std::chrono::year{1969} / 12 / 31;
  const Day first = std::chrono::year{1000} / 1 / 1;
  const Day last = std::chrono::year{9999} / 12 / 31;
  int number = 0;
  for (const Timestamp time : {Timestamp{today}, today + kDay - 1us, today - 1us, Timestamp{other}, other + kDay - 1us,
                               Timestamp{first}, last + kDay - 1us})
    append(created("E" + std::to_string(++number), time));
  CHECK(roll_up() == 5);
  const auto pending = [](Day day, std::uint64_t count) {
    return DailyCount{day, "ORDER_CREATED", Status::pending, count};
  };
  CHECK(days() ==
        Lines{pending(first, 1), pending(other, 2), pending(today - kDay, 1), pending(today, 2), pending(last, 1)});
}

TEST_CASE_METHOD(Rollup, "what becomes of the unfinished events of an old day is seen", "[rollup]") {
  add_in(Status::succeeded, created("done", today - kDay));
  add_in(Status::failed, created("retried", today - kDay));
  append(created("dead-1", today - kDay));
  REQUIRE(reject(claim_one("dead-1")) == SettleStatus::applied);
  append(created("dead-2", today - kDay));
  REQUIRE(reject(claim_one("dead-2")) == SettleStatus::applied);
  REQUIRE(roll_up() == 1);
  CHECK(days() == Lines{line(1, Status::succeeded, 1), line(1, Status::failed, 3)});
  clock().advance(240h);
  CHECK(store->rollup(10) == RollupResult{});

  REQUIRE(store->requeue(only("dead-1"), 1) == 1);
  CHECK(roll_up() == 1);
  CHECK(days() == Lines{line(1, Status::pending, 1), line(1, Status::succeeded, 1), line(1, Status::failed, 2)});
  REQUIRE(store->cancel(only("dead-2"), "too late", 1) == 1);
  for (const Event& event : claim()) REQUIRE(succeed(event) == SettleStatus::applied);
  CHECK(roll_up() == 1);
  CHECK(days() == Lines{line(1, Status::succeeded, 3), line(1, Status::cancelled, 1)});
}

// As many are unfinished as before, in the same states.
TEST_CASE_METHOD(Rollup, "a new event in the place of a finished one is seen", "[rollup]") {
  append(created("E1", today - kDay));
  REQUIRE(roll_up() == 1);
  REQUIRE(succeed(claim_one("E1")) == SettleStatus::applied);
  append(created("E2", today - kDay));
  CHECK(roll_up() == 1);
  CHECK(days() == Lines{line(1, Status::pending, 1), line(1, Status::succeeded, 1)});
}

TEST_CASE_METHOD(Rollup, "a late event comes into the day it says", "[rollup]") {
  add_in(Status::succeeded, created("E1", today - 3 * kDay));
  REQUIRE(roll_up() == 1);
  SECTION("unfinished") {
    append(created("late", today - 3 * kDay));
    CHECK(roll_up() == 1);
    CHECK(days() == Lines{line(3, Status::pending, 1), line(3, Status::succeeded, 1)});
  }
  SECTION("delivered before the next rollup") {
    add_in(Status::succeeded, created("late", today - 3 * kDay));
    CHECK(roll_up() == 1);
    CHECK(days() == Lines{line(3, Status::succeeded, 2)});
  }
  SECTION("archived before the next rollup") {
    add_in(Status::succeeded, created("late", today - 3 * kDay));
    REQUIRE(store->archive(now() + 1us, 10) == 2);
    CHECK(roll_up() == 1);
    CHECK(days() == Lines{line(3, Status::succeeded, 2)});
  }
  SECTION("purged before the next rollup") {
    add_in(Status::succeeded, created("late", today - 3 * kDay));
    REQUIRE(store->purge(now() + 1us, 10) == 2);
    CHECK(roll_up() == 1);
    CHECK(days() == Lines{line(3, Status::succeeded, 2)});
  }
}

TEST_CASE_METHOD(Rollup, "archived and purged events stay in their day", "[rollup]") {
  for (const char* number : {"E1", "E2", "E3"}) add_in(Status::succeeded, created(number, today - 2 * kDay));
  add_in(Status::cancelled, created("E4", today - 2 * kDay));
  if (GENERATE(true, false)) REQUIRE(roll_up() == 1);  // else they are purged before they were ever counted
  clock().advance(1h);
  REQUIRE(store->archive(now(), 2) == 2);
  REQUIRE(store->purge(now(), 1) == 1);  // an archived one
  (void)roll_up();
  const Lines expected{line(2, Status::succeeded, 3), line(2, Status::cancelled, 1)};
  CHECK(days() == expected);
  CHECK(store->rollup(10) == RollupResult{});
  REQUIRE(store->purge(now(), 10) == 3);
  CHECK(store->rollup(10) == RollupResult{});
  CHECK(days() == expected);
  append(created("late", today - 2 * kDay));  // the day is counted again, with nothing else left in it
  CHECK(roll_up() == 1);
  CHECK(days() == Lines{line(2, Status::pending, 1), line(2, Status::succeeded, 3), line(2, Status::cancelled, 1)});
}

TEST_CASE_METHOD(Rollup, "a rollup does at most so many days, the earliest first", "[rollup]") {
  // Finished ones: nothing but the first rollup's memory brings their days back.
  for (int ago : {0, 3, 1, 2}) add_in(Status::cancelled, created("E" + std::to_string(ago), today - ago * kDay));
  CHECK(store->rollup(0) == RollupResult{});
  CHECK(store->rollup(1) == RollupResult{1, true});
  CHECK(days() == Lines{line(3, Status::cancelled, 1)});
  append(created("late", today - 3 * kDay));  // in front of those that wait
  CHECK(store->rollup(2) == RollupResult{2, true});
  CHECK(days() == Lines{line(3, Status::pending, 1), line(3, Status::cancelled, 1), line(2, Status::cancelled, 1)});
  reopen();
  CHECK(store->rollup(2) == RollupResult{2, false});
  CHECK(days().size() == 5);
}

TEST_CASE_METHOD(Rollup, "daily stats by days and type", "[rollup]") {
  for (int ago : {0, 1, 2}) {
    append(created("A" + std::to_string(ago), today - ago * kDay));
    append(created("B" + std::to_string(ago), today - ago * kDay, "ORDER_PAID"));
  }
  REQUIRE(roll_up() == 3);
  DailyStatsRequest request;
  request.from = today - kDay;
  CHECK(store->daily_stats(request).size() == 4);
  request.until = today;
  CHECK(store->daily_stats(request) == Lines{line(1, Status::pending, 1), line(1, Status::pending, 1, "ORDER_PAID")});
  request.event_type = "ORDER_PAID";
  CHECK(store->daily_stats(request) == Lines{line(1, Status::pending, 1, "ORDER_PAID")});
  request.from.reset();
  CHECK(store->daily_stats(request).size() == 2);
  request.event_type = "order_paid";
  CHECK(store->daily_stats(request).empty());
}

class BoundedRollup : public Rollup {
 protected:
  BoundedRollup() : Rollup(bounded_kinds()) {
    StoreSettings settings;
    settings.max_events = 1;
    settings.drop_oldest = true;
    restart(settings);
    clock().set(today + 12h);
  }
};

TEST_CASE_METHOD(BoundedRollup, "dropped events are not counted any more", "[rollup][buffer]") {
  append(created("E1", today - kDay));
  REQUIRE(roll_up() == 1);
  append(created("E2", today));
  CHECK(roll_up() == 2);
  CHECK(days() == Lines{line(0, Status::pending, 1)});
}

TEST_CASE_METHOD(Rollup, "rollups at once, beside producers and a purge, lose and double nothing", "[rollup]") {
  constexpr int kRounds = 8;
  const auto roll = [&] {
    const auto own = database->open();
    for (int round = 0; round < 4 * kRounds; ++round) (void)own->rollup(1);
  };
  const auto work = [&](const std::string& name) {
    const auto own = database->open();
    for (int round = 0; round < kRounds; ++round) {
      const NewEvent event = created(name + std::to_string(round), today - (round % 3) * kDay);
      (void)own->append({&event, 1});
      (void)own->cancel(only(event.event_no), "not wanted", 1);
      (void)own->purge(now() + 1us, 1);
    }
  };
  std::vector<std::future<void>> all;
  for (int i = 0; i < 2; ++i) all.push_back(std::async(std::launch::async, roll));
  for (const char* name : {"A", "B"}) all.push_back(std::async(std::launch::async, work, name));
  for (auto& one : all) one.get();
  (void)roll_up();
  CHECK(days() == Lines{line(2, Status::cancelled, 4), line(1, Status::cancelled, 6), line(0, Status::cancelled, 6)});
}

}  // namespace
}  // namespace waybill::test
