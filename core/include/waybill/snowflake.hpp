#pragma once
// 64-bit ids in time order, unique per worker, that survive a clock stepping back.

#include <cstdint>

#include "waybill/time.hpp"

namespace waybill {

/// Makes ids of 41 bits of milliseconds since 2020-01-01, 10 bits of worker, 12 bits of sequence: positive, rising.
/// Thread-compatible. A clock that steps back is ignored until it has caught up; more than 4096 ids in a millisecond
/// borrow from the next one.
class SnowflakeIds {
 public:
  static constexpr std::uint32_t kMaxWorker = 1023;
  /// Throws ConfigError when worker > kMaxWorker.
  explicit SnowflakeIds(std::uint32_t worker);
  /// Throws StorageError (invalid) when the clock is past 2089-09-06, where the 41 bits end; the next call may succeed.
  [[nodiscard]] std::int64_t next(Timestamp now);

  [[nodiscard]] static std::uint32_t worker_of(std::int64_t id) noexcept;
  [[nodiscard]] static Timestamp time_of(std::int64_t id) noexcept;

 private:
  std::uint32_t worker_;
  std::int64_t last_tick_{-1};
  std::uint32_t sequence_{0};
};

}  // namespace waybill
