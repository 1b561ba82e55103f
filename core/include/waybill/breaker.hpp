#pragma once
// Circuit breaker of one route. A value driven by the caller's clock.

#include <string>

#include "waybill/time.hpp"

namespace waybill {

struct BreakerOptions {
  Duration first_pause{std::chrono::seconds{1}};  ///< after the first failure; doubles with each failed probe
  Duration max_pause{std::chrono::seconds{30}};
};

/// Closed: deliver. Open: leave the route's events alone until the pause is over. Then one probe decides.
/// Thread-compatible.
class Breaker {
 public:
  enum class State { closed, open, probing };

  explicit Breaker(BreakerOptions options = {}) : options_(options) {}

  /// Open turns into probing when the pause is over.
  [[nodiscard]] State state(Timestamp now) const noexcept;
  [[nodiscard]] bool may_claim(Timestamp now) const noexcept { return state(now) != State::open; }
  /// When the next probe may run; only meaningful while open.
  [[nodiscard]] Timestamp probe_time() const noexcept { return open_until_; }
  [[nodiscard]] const std::string& last_reason() const noexcept { return reason_; }

  void succeeded() noexcept;
  /// `wish`: the destination's own idea of the pause (Retry-After); the longer one counts, at most max_pause.
  void unavailable(Timestamp now, std::string reason, Duration wish = Duration{0});

 private:
  BreakerOptions options_;
  bool tripped_{false};
  Duration pause_{0};
  Timestamp open_until_{};
  std::string reason_;
};

}  // namespace waybill
