#pragma once
// A clock that stands still until a test moves it.

#include <atomic>

#include "waybill/time.hpp"

namespace waybill::test {

/// Thread-safe.
class ManualClock final : public IClock {
 public:
  static constexpr Timestamp kStart{std::chrono::seconds{1'780'000'000}};

  explicit ManualClock(Timestamp start = kStart) : micros_(start.time_since_epoch().count()) {}

  [[nodiscard]] Timestamp now() const override { return Timestamp{Duration{micros_.load()}}; }
  void set(Timestamp time) { micros_.store(time.time_since_epoch().count()); }
  void advance(Duration by) { micros_.fetch_add(by.count()); }

 private:
  std::atomic<Duration::rep> micros_;
};

}  // namespace waybill::test
