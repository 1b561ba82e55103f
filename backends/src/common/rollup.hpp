#pragma once
// The daily counts of an SQL store: which days are counted again, and what of them is written. The rule is told in
// daily_stats.hpp.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waybill/daily_stats.hpp"

namespace waybill::backends {

/// Type and status.
using StatKey = std::pair<std::string, Status>;

struct StatRow {
  std::uint64_t events{0};  ///< event_count
  std::uint64_t purged{0};  ///< the part of it that is no longer in the store
};

struct StatChange {
  StatKey key;
  std::uint64_t events{0};  ///< 0: the row goes
};

/// Events about to be purged, all of one day, type and status.
struct PurgedGroup {
  Day day;
  StatKey key;
  std::uint64_t events{0};
  std::int64_t highest_id{0};
};

/// The statements of one store. Within a transaction.
class RollupTables {
 public:
  virtual ~RollupTables() = default;

  /// Adds the days of events with an id above `cursor`, archived or not; returns the next cursor.
  virtual std::int64_t add_new_days(std::int64_t cursor, std::set<Day>& days) = 0;
  /// Adds the days whose unfinished events are not as they were counted.
  virtual void add_changed_days(std::set<Day>& days) = 0;
  virtual std::set<Day> queued_days() = 0;
  virtual std::map<StatKey, StatRow> stored(Day day) = 0;
  /// Events in the store, archived or not.
  virtual std::map<StatKey, std::uint64_t> found(Day day) = 0;

  virtual void write(Day day, const StatChange& change) = 0;
  virtual void queue(Day day) = 0;
  virtual void unqueue(Day day) = 0;
  virtual void book(const PurgedGroup& group) = 0;
};

/// What a rollup has found out.
struct RollupPlan {
  std::int64_t cursor{0};  ///< the next one
  std::map<Day, std::vector<StatChange>> counted;
  std::set<Day> left;    ///< to be counted by a later call
  std::set<Day> queued;  ///< these are in the queue so far
};

/// Reads only.
[[nodiscard]] RollupPlan plan_rollup(RollupTables& tables, std::int64_t cursor, std::size_t limit);
/// There is nothing to write.
[[nodiscard]] bool changes_nothing(const RollupPlan& plan, std::int64_t cursor);
/// The cursor is the caller's to keep.
RollupResult write_rollup(RollupTables& tables, const RollupPlan& plan);
/// What is purged stays in its day's numbers. Days that have events from behind the cursor were perhaps not counted
/// yet.
void book_purged(RollupTables& tables, std::int64_t cursor, std::span<const PurgedGroup> groups);

}  // namespace waybill::backends
