#include "waybill/retry_policy.hpp"

#include <cmath>

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/error.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow{1'780'000'000s};

struct Exponential {
  Duration base{0};
  double factor{1};
  Duration cap{0};
  double jitter{0};

  [[nodiscard]] RetryPolicy policy() const { return RetryPolicy::exponential(base, factor, cap, jitter); }
};

Exponential any_exponential() {
  Exponential given;
  given.base = Duration{*rc::gen::inRange<std::int64_t>(0, 3'600'000'000)};
  given.factor = 1 + *rc::gen::inRange(0, 1000) / 100.0;
  given.cap = given.base + Duration{*rc::gen::inRange<std::int64_t>(0, 864'000'000'000)};
  given.jitter = *rc::gen::inRange(0, 101) / 100.0;
  return given;
}

std::vector<Duration> any_delays() {
  const auto micros = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 864'000'000'000)));
  std::vector<Duration> delays;
  for (const std::int64_t one : micros) delays.emplace_back(one);
  return delays;
}

double any_random() { return *rc::gen::inRange(0, 1'000'000) / 1e6; }

/// At least the plain delay, at most the jitter's share above it.
void check_bounds(Duration delay, Duration plain, double jitter) {
  RC_ASSERT(delay >= plain);
  RC_ASSERT(static_cast<double>(delay.count()) <= static_cast<double>(plain.count()) * (1 + jitter) + 1);
}

TEST_CASE("the default schedule is the seed's") {
  const RetryPolicy policy;
  CHECK(policy.delay(1, 0) == 1min);
  CHECK(policy.delay(2, 0) == 5min);
  CHECK(policy.delay(3, 0) == 30min);
  CHECK(policy.delay(4, 0) == 2h);
  CHECK(policy.delay(5, 0) == 2h);
  CHECK(policy.delay(1'000'000, 0) == 2h);
  CHECK(policy.delay(1, 0.5) == 63s);
  CHECK(policy.to_string() == "1m,5m,30m,2h");
}

TEST_CASE("fewer than one failure counts as one") {
  CHECK(RetryPolicy{}.delay(0, 0) == 1min);
  CHECK(RetryPolicy{}.delay(-3, 0) == 1min);
}

TEST_CASE("random numbers outside 0 to 1 stay within the jitter") {
  const RetryPolicy policy = RetryPolicy::fixed({100s}, 0.5);
  CHECK(policy.delay(1, 1) == 150s);
  CHECK(policy.delay(1, 7) == 150s);
  CHECK(policy.delay(1, -1) == 100s);
  CHECK(policy.delay(1, std::nan("")) == 100s);
}

TEST_CASE("a fixed list repeats its last delay") {
  check_property("fixed: delay n is entry n or the last, moved upward by the jitter only", [] {
    const std::vector<Duration> delays = any_delays();
    const double jitter = *rc::gen::inRange(0, 101) / 100.0;
    const int failures = *rc::gen::inRange(1, 20);
    const RetryPolicy policy = RetryPolicy::fixed(delays, jitter);
    const std::size_t index = std::min(static_cast<std::size_t>(failures), delays.size()) - 1;
    RC_ASSERT(policy.delay(failures, 0) == delays[index]);
    check_bounds(policy.delay(failures, any_random()), delays[index], jitter);
  });
}

TEST_CASE("exponential delays grow to the cap") {
  check_property("exponential: min(cap, base * factor^(n-1)), moved upward by the jitter only", [] {
    const Exponential given = any_exponential();
    const int failures = *rc::gen::oneOf(rc::gen::inRange(1, 30), rc::gen::just(std::numeric_limits<int>::max()));
    const RetryPolicy policy = given.policy();
    long double expected = static_cast<long double>(given.base.count());
    for (int step = 1; step < failures && expected > 0 && expected < 1e15L && given.factor > 1; ++step)
      expected *= static_cast<long double>(given.factor);
    expected = std::min(expected, static_cast<long double>(given.cap.count()));
    const Duration plain = policy.delay(failures, 0);
    RC_ASSERT(std::fabs(static_cast<long double>(plain.count()) - expected) <= 1 + expected * 1e-12L);
    RC_ASSERT(plain <= given.cap);
    RC_ASSERT(policy.delay(failures == 1 ? 1 : failures - 1, 0) <= plain);
    check_bounds(policy.delay(failures, any_random()), plain, given.jitter);
  });
}

TEST_CASE("jitter grows with the random number") {
  check_property("delay(n, r) is monotone in r", [] {
    const RetryPolicy policy = any_exponential().policy();
    const double a = any_random();
    const double b = any_random();
    RC_ASSERT(policy.delay(3, std::min(a, b)) <= policy.delay(3, std::max(a, b)));
  });
}

TEST_CASE("the destination's wish can only put an event off, by a day at most") {
  check_property("next_time == now + max(policy, min(wish, 24 h))", [] {
    const RetryPolicy policy = any_exponential().policy();
    const int failures = *rc::gen::inRange(1, 10);
    const double random = any_random();
    const Duration wish{*rc::gen::inRange<std::int64_t>(-1'000'000, 400'000'000'000)};
    const Duration own = policy.delay(failures, random);
    RC_ASSERT(policy.next_time(kNow, failures, random, std::nullopt) == kNow + own);
    RC_ASSERT(policy.next_time(kNow, failures, random, wish) == kNow + std::max(own, std::min(wish, Duration{24h})));
  });
  CHECK(RetryPolicy{}.next_time(kNow, 1, 0, Duration::max()) == kNow + 24h);
  CHECK(RetryPolicy{}.next_time(kNow, 1, 0, 90s) == kNow + 90s);
  CHECK(RetryPolicy{}.next_time(kNow, 1, 0, 10s) == kNow + 60s);
}

TEST_CASE("a policy survives being written and read") {
  const auto same = [](const RetryPolicy& a, const RetryPolicy& b) {
    RC_ASSERT(a.to_string() == b.to_string());
    for (int failures = 1; failures < 12; ++failures)
      for (const double random : {0.0, 0.3, 0.999}) RC_ASSERT(a.delay(failures, random) == b.delay(failures, random));
  };
  check_property("parse(to_string(exponential)) does the same", [&] {
    const RetryPolicy policy = any_exponential().policy();
    same(RetryPolicy::parse(policy.to_string()), policy);
  });
  check_property("parse(to_string(fixed)) does the same", [&] {
    const RetryPolicy policy = RetryPolicy::fixed(any_delays(), *rc::gen::inRange(0, 101) / 100.0);
    same(RetryPolicy::parse(policy.to_string()), policy);
  });
}

TEST_CASE("policies are read from text") {
  CHECK(RetryPolicy::parse("1m,5m,30m,2h").to_string() == RetryPolicy{}.to_string());
  CHECK(RetryPolicy::parse("10s;jitter=0").delay(1, 0.9) == 10s);
  const RetryPolicy policy = RetryPolicy::parse("exponential:1s,2,1h;jitter=0.2");
  CHECK(policy.delay(1, 0) == 1s);
  CHECK(policy.delay(4, 0) == 8s);
  CHECK(policy.delay(13, 0) == 1h);
  CHECK(policy.delay(1, 0.5) == 1100ms);
  CHECK(policy.to_string() == "exponential:1s,2,1h;jitter=0.2");
}

TEST_CASE("wrong policies are refused") {
  for (const char* text : {"",
                           ",",
                           "1m,",
                           "5",
                           "1m 5m",
                           "1m;",
                           "1m;jitter",
                           "1m;jitter=",
                           "1m;jitter=x",
                           "1m;jitter=2",
                           "1m;jitter=-0.1",
                           "1m;jitter=nan",
                           "1m;noise=0.1",
                           "exponential:",
                           "exponential:1s",
                           "exponential:1s,2",
                           "exponential:1s,2,1h,4",
                           "exponential:1s,0.5,1h",
                           "exponential:1s,inf,1h",
                           "exponential:1s,nan,1h",
                           "exponential:1h,2,1s",
                           "exponential:1s,2x,1h",
                           "99999999d",
                           "linear:1s"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(RetryPolicy::parse(text), ConfigError);
  }
  CHECK_THROWS_AS(RetryPolicy::fixed({}), ConfigError);
  CHECK_THROWS_AS(RetryPolicy::fixed({-1s}), ConfigError);
  CHECK_THROWS_AS(RetryPolicy::fixed({1s}, 1.5), ConfigError);
  CHECK_THROWS_AS(RetryPolicy::exponential(1s, 2, 1h, std::nan("")), ConfigError);
}

TEST_CASE("any text is a policy or a clear error") {
  check_property("parse throws nothing but ConfigError", [] {
    const std::string text = *rc::gen::oneOf(any_bytes(), text_of("1m,5h;jiter=0.2exponential:", 0, 20));
    try {
      (void)RetryPolicy::parse(text);
    } catch (const ConfigError&) {
    }
  });
}

}  // namespace
}  // namespace waybill::test
