#include "common/rollup.hpp"

#include <algorithm>

namespace waybill::backends {
namespace {

std::vector<StatChange> changes_of(const std::map<StatKey, StatRow>& stored,
                                   const std::map<StatKey, std::uint64_t>& found) {
  std::map<StatKey, std::uint64_t> events = found;
  for (const auto& [key, row] : stored) events[key] += row.purged;
  std::vector<StatChange> changes;
  for (const auto& [key, count] : events) {
    const auto before = stored.find(key);
    if (count != (before == stored.end() ? 0 : before->second.events)) changes.push_back({key, count});
  }
  return changes;
}

}  // namespace

RollupPlan plan_rollup(RollupTables& tables, std::int64_t cursor, std::size_t limit) {
  RollupPlan plan;
  plan.queued = tables.queued_days();
  plan.left = plan.queued;
  plan.cursor = tables.add_new_days(cursor, plan.left);
  tables.add_changed_days(plan.left);
  while (!plan.left.empty() && plan.counted.size() < limit) {
    const Day day = *plan.left.begin();
    plan.counted.emplace(day, changes_of(tables.stored(day), tables.found(day)));
    plan.left.erase(day);
  }
  return plan;
}

bool changes_nothing(const RollupPlan& plan, std::int64_t cursor) {
  const auto is_queued = [&](Day day) { return plan.queued.count(day) != 0; };
  const bool none_written = std::all_of(plan.counted.begin(), plan.counted.end(), [&](const auto& counted) {
    return counted.second.empty() && !is_queued(counted.first);
  });
  return none_written && plan.cursor == cursor && std::all_of(plan.left.begin(), plan.left.end(), is_queued);
}

RollupResult write_rollup(RollupTables& tables, const RollupPlan& plan) {
  RollupResult result;
  for (const auto& [day, changes] : plan.counted) {
    for (const StatChange& change : changes) tables.write(day, change);
    if (plan.queued.count(day) != 0) tables.unqueue(day);
    if (!changes.empty()) ++result.days;
  }
  for (const Day day : plan.left)
    if (plan.queued.count(day) == 0) tables.queue(day);
  result.more = !plan.left.empty();
  return result;
}

void book_purged(RollupTables& tables, std::int64_t cursor, std::span<const PurgedGroup> groups) {
  for (const PurgedGroup& group : groups) {
    tables.book(group);
    if (group.highest_id > cursor) tables.queue(group.day);
  }
}

}  // namespace waybill::backends
