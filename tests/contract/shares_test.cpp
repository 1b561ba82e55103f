// How a claim is shared between due retries, due scheduled events and new ones.

#include <algorithm>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

struct Taken {
  int retries{0};
  int scheduled{0};
  int fresh{0};
  bool operator==(const Taken&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Taken& taken) {
  return out << taken.retries << " retries, " << taken.scheduled << " scheduled, " << taken.fresh << " new";
}

/// By the first letter: R, S, N.
Taken taken_by(const std::vector<Event>& events) {
  Taken taken;
  for (const Event& event : events) {
    taken.retries += event.event_no.front() == 'R';
    taken.scheduled += event.event_no.front() == 'S';
    taken.fresh += event.event_no.front() == 'N';
  }
  return taken;
}

class Shares : public Contract {
 protected:
  /// So many due retries, due scheduled and new events.
  void fill(int retries, int scheduled, int fresh) {
    append_many("R", 1, retries);
    if (retries > 0)
      for (const Event& event : claim(1000)) fail(event, now() + 1s);
    clock().advance(10s);
    append_many("S", 1, scheduled, now());
    append_many("N", 1, fresh);
  }

  Taken take(std::size_t limit, unsigned retry_percent = 25) {
    ClaimRequest request = claim_request(limit);
    request.retry_percent = retry_percent;
    const auto events = store->claim(request).events;
    CHECK(std::is_sorted(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.id < b.id; }));
    return taken_by(events);
  }
};

TEST_CASE_METHOD(Shares, "each kind of due event has its share of a claim", "[claim][shares]") {
  fill(20, 20, 100);
  CHECK(take(20) == Taken{5, 5, 10});
  CHECK(take(20, 10) == Taken{2, 2, 16});
  CHECK(take(3) == Taken{1, 1, 1});
}

TEST_CASE_METHOD(Shares, "an unused share is lent", "[claim][shares]") {
  SECTION("to new events") {
    fill(2, 1, 100);
    CHECK(take(20) == Taken{2, 1, 17});
  }
  SECTION("to retries") {
    fill(40, 3, 4);
    CHECK(take(20) == Taken{13, 3, 4});
  }
  SECTION("to scheduled events") {
    fill(1, 40, 4);
    CHECK(take(20) == Taken{1, 15, 4});
  }
  SECTION("to retries before scheduled events") {
    fill(40, 40, 1);
    CHECK(take(20) == Taken{14, 5, 1});
  }
  SECTION("all of it") {
    fill(40, 0, 0);
    CHECK(take(20) == Taken{20, 0, 0});
  }
}

TEST_CASE_METHOD(Shares, "claims of fewer than three take turns", "[claim][shares]") {
  fill(10, 10, 10);
  const auto two_rounds = [&](std::size_t limit) {
    Taken total;
    for (int i = 0; i < 3; ++i) {
      const Taken taken = take(limit);
      CHECK(std::max({taken.retries, taken.scheduled, taken.fresh}) == static_cast<int>(limit));
      total.retries += taken.retries;
      total.scheduled += taken.scheduled;
      total.fresh += taken.fresh;
    }
    return total;
  };
  CHECK(two_rounds(1) == Taken{1, 1, 1});
  CHECK(two_rounds(2) == Taken{2, 2, 2});
}

TEST_CASE_METHOD(Shares, "an idle turn is lent as well", "[claim][shares]") {
  fill(0, 0, 3);
  for (int i = 0; i < 3; ++i) CHECK(take(1) == Taken{0, 0, 1});
}

TEST_CASE_METHOD(Shares, "due events go by their time, then by id", "[claim][shares]") {
  append_many("R", 1, 4);
  const auto held = claim();
  const Timestamp start = now();
  fail(held[0], start + 30s);
  fail(held[1], start + 10s);
  fail(held[2], start + 20s);
  fail(held[3], start + 10s);
  append_many("S", 1, 1, start + 12s);
  append_many("S", 2, 2, start + 11s);
  append_many("S", 3, 3, start + 11s);
  append_many("N", 1, 9);
  clock().advance(1h);
  CHECK(numbers_of(claim(3)) == Numbers{"R2", "S2", "N1"});
  CHECK(numbers_of(claim(3)) == Numbers{"R4", "S3", "N2"});
  CHECK(numbers_of(claim(3)) == Numbers{"R3", "S1", "N3"});
  CHECK(numbers_of(claim(3)) == Numbers{"R1", "N4", "N5"});
}

TEST_CASE_METHOD(Shares, "dead and future events cost a claim no place", "[claim][shares]") {
  append_many("R", 1, 50);
  for (const Event& event : claim()) reject(event);
  append_many("R", 51, 60);
  for (const Event& event : claim()) fail(event, now() + 100h);
  append_many("S", 1, 50, now() + 100h);
  append_many("N", 1, 8);
  clock().advance(1h);
  CHECK(take(8) == Taken{0, 0, 8});
}

}  // namespace
}  // namespace waybill::test
