#pragma once
// When to try again. A value: no clock, no randomness of its own.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/time.hpp"

namespace waybill {

/// Delay before attempt n+1, by the number of failed attempts so far. Copyable, thread-safe to read.
class RetryPolicy {
 public:
  /// The seed's schedule: 1 m, 5 m, 30 m, 2 h, then 2 h for ever; 10 % jitter.
  RetryPolicy();
  /// One delay per failure, the last one repeats. `delays` is not empty. Throws ConfigError otherwise.
  [[nodiscard]] static RetryPolicy fixed(std::vector<Duration> delays, double jitter = 0.1);
  /// base * factor^(failures-1), at most `cap`. factor >= 1.
  [[nodiscard]] static RetryPolicy exponential(Duration base, double factor, Duration cap, double jitter = 0.1);
  /// `1m,5m,30m,2h` or `exponential:1s,2,1h` (base, factor, cap); either may end in `;jitter=0.2`. Throws ConfigError.
  [[nodiscard]] static RetryPolicy parse(std::string_view text);

  /// failures >= 1: failed attempts including the one just made. random in [0, 1) moves the delay upward only, by at
  /// most the jitter's share of it.
  [[nodiscard]] Duration delay(int failures, double random) const;
  /// When to try again: the later of the policy's and the destination's wish (`retry_after`), never more than a day
  /// after `now` on the destination's account.
  [[nodiscard]] Timestamp next_time(Timestamp now, int failures, double random,
                                    std::optional<Duration> retry_after) const;

  [[nodiscard]] std::string to_string() const;

 private:
  std::vector<Duration> delays_;  ///< fixed list; empty: exponential
  Duration base_{0};
  double factor_{1};
  Duration cap_{0};
  double jitter_{0.1};
};

}  // namespace waybill
