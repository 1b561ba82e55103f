#include "waybill/snowflake.hpp"

#include <set>

#include "support/property.hpp"
#include "waybill/error.hpp"

namespace waybill::test {
namespace {

using std::chrono::milliseconds;

constexpr Timestamp kStart{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}};

TEST_CASE("an id says its worker and millisecond") {
  SnowflakeIds ids{1023};
  const std::int64_t id = ids.next(kStart + std::chrono::microseconds{1'234'999});
  CHECK(SnowflakeIds::worker_of(id) == 1023);
  CHECK(SnowflakeIds::time_of(id) == kStart + milliseconds{1234});
}

TEST_CASE("worker numbers end at 1023") {
  CHECK_NOTHROW(SnowflakeIds{SnowflakeIds::kMaxWorker});
  CHECK_THROWS_AS(SnowflakeIds{SnowflakeIds::kMaxWorker + 1}, ConfigError);
}

TEST_CASE("a clock before 2020 still gives positive, rising ids") {
  SnowflakeIds ids{0};
  const std::int64_t first = ids.next(Timestamp{});
  CHECK(first > 0);
  CHECK(ids.next(Timestamp::min()) > first);
}

TEST_CASE("a clock past the last tick is an error that does no harm") {
  SnowflakeIds ids{3};
  const std::int64_t before = ids.next(kStart);
  CHECK_THROWS_AS(ids.next(Timestamp{std::chrono::sys_days{std::chrono::year{2089} / 9 / 7}}), StorageError);
  const std::int64_t after = ids.next(kStart + milliseconds{1});
  CHECK(after > before);
  CHECK(SnowflakeIds::time_of(after) == kStart + milliseconds{1});
}

TEST_CASE("more than 4096 ids in one millisecond borrow from the next one") {
  SnowflakeIds ids{7};
  std::int64_t last = 0;
  for (int made = 0; made < 4096 * 2 + 1; ++made) {
    const std::int64_t id = ids.next(kStart);
    REQUIRE(id > last);
    REQUIRE(SnowflakeIds::worker_of(id) == 7);
    last = id;
  }
  CHECK(SnowflakeIds::time_of(last) == kStart + milliseconds{2});
  // The clock catches up with what was borrowed.
  CHECK(SnowflakeIds::time_of(ids.next(kStart + milliseconds{3})) == kStart + milliseconds{3});
}

TEST_CASE("ids rise whatever the clock does") {
  check_property("ids rise strictly, are positive and keep their worker over clock walks with steps back", [] {
    const auto worker = *rc::gen::inRange<std::uint32_t>(0, SnowflakeIds::kMaxWorker + 1);
    // Microseconds: mostly small steps, some big ones either way.
    const auto steps = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-2'000, 3'000), rc::gen::just<std::int64_t>(0),
                       rc::gen::inRange<std::int64_t>(-90'000'000'000, 90'000'000'000)));
    const auto burst = *rc::gen::inRange(1, 200);
    SnowflakeIds ids{worker};
    Timestamp now = kStart;
    Timestamp latest = now;
    std::int64_t last = 0;
    for (const std::int64_t step : steps) {
      now += Duration{step};
      latest = std::max(latest, now);
      for (int made = 0; made < burst; ++made) {
        const std::int64_t id = ids.next(now);
        RC_ASSERT(id > last);
        RC_ASSERT(SnowflakeIds::worker_of(id) == worker);
        // Never ahead of the latest clock by more than what a full millisecond borrows.
        RC_ASSERT(SnowflakeIds::time_of(id) <=
                  latest + milliseconds{static_cast<int>(steps.size()) * burst / 4096 + 1});
        last = id;
      }
    }
  });
}

TEST_CASE("two workers never make the same id") {
  check_property("ids of two workers are disjoint", [] {
    const auto times = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 5'000));
    SnowflakeIds one{1};
    SnowflakeIds other{2};
    std::set<std::int64_t> seen;
    for (const std::int64_t at : times) {
      RC_ASSERT(seen.insert(one.next(kStart + Duration{at})).second);
      RC_ASSERT(seen.insert(other.next(kStart + Duration{at})).second);
    }
  });
}

}  // namespace
}  // namespace waybill::test
