#include "waybill/breaker.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kNow = ManualClock::kStart;

TEST_CASE("a breaker opens at once, then lets one probe through") {
  Breaker breaker;
  REQUIRE(breaker.state(kNow) == Breaker::State::closed);
  breaker.unavailable(kNow, "refused");
  REQUIRE(breaker.state(kNow) == Breaker::State::open);
  REQUIRE_FALSE(breaker.may_claim(kNow + 999ms));
  REQUIRE(breaker.probe_time() == kNow + 1s);
  REQUIRE(breaker.state(kNow + 1s) == Breaker::State::probing);
  REQUIRE(breaker.last_reason() == "refused");
  breaker.succeeded();
  REQUIRE(breaker.state(kNow + 1s) == Breaker::State::closed);
  REQUIRE(breaker.last_reason().empty());
}

TEST_CASE("each failed probe doubles the pause, up to the longest") {
  Breaker breaker(BreakerOptions{1s, 5s});
  Timestamp now = kNow;
  for (const Duration pause : {1s, 2s, 4s, 5s, 5s}) {
    breaker.unavailable(now, "down");
    REQUIRE(breaker.probe_time() - now == pause);
    now = breaker.probe_time();
  }
  breaker.succeeded();
  breaker.unavailable(now, "down");
  REQUIRE(breaker.probe_time() - now == 1s);
}

TEST_CASE("the destination's wish counts, but not beyond the longest pause") {
  Breaker breaker(BreakerOptions{1s, 30s});
  breaker.unavailable(kNow, "busy", 10s);
  REQUIRE(breaker.probe_time() == kNow + 10s);
  breaker.unavailable(kNow, "busy", std::chrono::hours{24});
  REQUIRE(breaker.probe_time() == kNow + 30s);
}

TEST_CASE("a clock that steps back does not keep a route shut") {
  Breaker breaker;
  breaker.unavailable(kNow, "down");
  REQUIRE(breaker.may_claim(kNow - std::chrono::hours{24 * 365}));
}

}  // namespace
}  // namespace waybill::test
