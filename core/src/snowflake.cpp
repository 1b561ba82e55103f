#include "waybill/snowflake.hpp"

#include <algorithm>
#include <string>

#include "waybill/error.hpp"

namespace waybill {
namespace {

constexpr int kSequenceBits = 12;
constexpr int kWorkerBits = 10;
constexpr std::uint32_t kMaxSequence = (1U << kSequenceBits) - 1;
constexpr std::int64_t kMaxTick = (std::int64_t{1} << 41) - 1;
constexpr std::chrono::sys_days kEpoch{std::chrono::year{2020} / 1 / 1};

}  // namespace

SnowflakeIds::SnowflakeIds(std::uint32_t worker) : worker_(worker) {
  if (worker > kMaxWorker)
    throw ConfigError("worker number " + std::to_string(worker) + " is too large; use 0 to " +
                      std::to_string(kMaxWorker));
}

std::int64_t SnowflakeIds::next(Timestamp now) {
  const auto since =
      now > Timestamp{kEpoch} ? std::chrono::floor<std::chrono::milliseconds>(now - Timestamp{kEpoch}).count() : 0;
  // The first id of all must be positive, so time starts at tick 1 there.
  std::int64_t tick = std::max<std::int64_t>({since, last_tick_, 1});
  std::uint32_t sequence = 0;
  if (tick == last_tick_) {
    sequence = sequence_ + 1;
    if (sequence > kMaxSequence) {
      ++tick;
      sequence = 0;
    }
  }
  if (tick > kMaxTick)
    throw StorageError(ErrorCode::invalid,
                       "the clock is past 2089-09-06, where 41 bits of milliseconds end; set it right");
  last_tick_ = tick;
  sequence_ = sequence;
  return (tick << (kWorkerBits + kSequenceBits)) | (std::int64_t{worker_} << kSequenceBits) | sequence;
}

std::uint32_t SnowflakeIds::worker_of(std::int64_t id) noexcept {
  return static_cast<std::uint32_t>(id >> kSequenceBits) & kMaxWorker;
}

Timestamp SnowflakeIds::time_of(std::int64_t id) noexcept {
  return Timestamp{kEpoch} + std::chrono::milliseconds{id >> (kWorkerBits + kSequenceBits)};
}

}  // namespace waybill
