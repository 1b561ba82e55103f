#pragma once
// Points in time and their text forms. UTC with microseconds everywhere.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace waybill {

/// UTC, microseconds since 1970-01-01.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;
using Duration = std::chrono::microseconds;
/// A day in UTC.
using Day = std::chrono::sys_days;
[[nodiscard]] constexpr Day day_of(Timestamp time) { return std::chrono::floor<std::chrono::days>(time); }

/// Where "now" comes from. Implementations are thread-safe.
class IClock {
 public:
  virtual ~IClock() = default;
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The machine's wall clock.
class SystemClock final : public IClock {
 public:
  [[nodiscard]] Timestamp now() const override;
};

/// `2026-11-30T17:38:00.000000Z` (RFC 3339, always six digits).
[[nodiscard]] std::string format_time(Timestamp time);
/// `2026-11-30`.
[[nodiscard]] std::string format_day(Day day);
/// RFC 3339 with `Z` or an offset, 0 to 9 fractional digits (cut to microseconds); nullopt when it is anything else.
[[nodiscard]] std::optional<Timestamp> parse_time(std::string_view text);

/// `250ms`, `2s`, `5m`, `12h`, `30d`; also `us`. A whole number from 0 and one unit; nullopt otherwise or on overflow.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);
/// The largest unit that keeps the value whole: `90s`, `1m`, `250ms`.
[[nodiscard]] std::string format_duration(Duration duration);

/// `4096`, `64KiB`, `1MiB`, `2GiB` in bytes; nullopt otherwise or on overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace waybill
