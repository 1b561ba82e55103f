#pragma once
// The daily counts of an in-memory database.

#include <map>
#include <vector>

#include "common/rollup.hpp"

namespace waybill {

/// The reference for what a rollup must come to: it counts every event each time.
class MemoryStats {
 public:
  using Counts = std::map<backends::StatKey, std::uint64_t>;

  void add_purged(const Event& event) { ++purged_[day_of(event.create_time)][key_of(event)]; }

  /// `tables` hold all events, by id.
  [[nodiscard]] RollupResult rollup(std::initializer_list<const std::map<std::int64_t, Event>*> tables,
                                    std::size_t limit) {
    std::map<Day, Counts> truth = purged_;
    for (const auto& [day, counts] : told_) truth[day];  // a day may have lost its only event to a full buffer
    for (const auto* table : tables)
      for (const auto& [id, event] : *table) ++truth[day_of(event.create_time)][key_of(event)];
    RollupResult result;
    for (const auto& [day, counts] : truth) {
      Counts& told = told_[day];
      if (told == counts) continue;
      if (result.days == limit) {
        result.more = true;
        break;
      }
      told = counts;
      ++result.days;
    }
    return result;
  }

  [[nodiscard]] std::vector<DailyCount> ask(const DailyStatsRequest& request) const {
    std::vector<DailyCount> lines;
    for (const auto& [day, counts] : told_) {
      if ((request.from && day < *request.from) || (request.until && day >= *request.until)) continue;
      for (const auto& [key, count] : counts)
        if (!request.event_type || key.first == *request.event_type)
          lines.push_back({day, key.first, key.second, count});
    }
    return lines;
  }

 private:
  [[nodiscard]] static backends::StatKey key_of(const Event& event) { return {event.event_type, event.publish_status}; }

  std::map<Day, Counts> told_;
  std::map<Day, Counts> purged_;
};

}  // namespace waybill
