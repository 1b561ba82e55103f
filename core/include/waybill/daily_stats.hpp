#pragma once
// Counts of events by day of create_time (UTC), event type and status: what rollup() keeps and daily_stats() reads.
//
// Each event that was accepted is counted in its day once, under its status as of the rollup (dead ones are failed):
// one in the archive under the status it had, and one that was purged for ever, so that a day's numbers never shrink by
// purge or archive. Events dropped by a full buffer, and those with deleted = 1, are not counted.
//
// Which days a rollup counts again:
//  - days of events whose id is higher than any seen before, whatever create_time they bring: a late insert;
//  - days whose unfinished events (pending, in progress, failed) are not as they were counted, by type and status: one
//    of them was claimed, delivered, requeued, cancelled or dropped. They are few and have indexes of their own.
// Nothing else can change a number: what is succeeded or cancelled stays so. A day all of whose events are finished or
// dead is therefore left alone, however many they are, until one of these two brings it back.
//
// On MySQL a transaction may commit a lower id than others before it, as may a program that gives ids itself. Such
// events are found while they are unfinished, with the next change of their day, or, on MySQL, an hour after the day is
// over, when it is counted once more. Not seen: a finished event that a foreign program changes, moves to another day
// or marks deleted by hand.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "waybill/event.hpp"
#include "waybill/time.hpp"

namespace waybill {

struct DailyStatsRequest {
  std::optional<Day> from;   ///< inclusive
  std::optional<Day> until;  ///< exclusive
  std::optional<std::string> event_type;
};

struct DailyCount {
  Day day{};
  std::string event_type;
  Status status{Status::pending};
  std::uint64_t count{0};
  friend bool operator==(const DailyCount&, const DailyCount&) = default;
};

struct RollupResult {
  std::size_t days{0};  ///< whose numbers changed
  bool more{false};     ///< days are left: call again. On a busy store today changes all the time, so don't wait for 0
  friend bool operator==(const RollupResult&, const RollupResult&) = default;
};

}  // namespace waybill
