#pragma once
// The daily counts in an SQLite file.

#include <vector>

#include "common/rollup.hpp"
#include "sqlite/sqlite_statement.hpp"

namespace waybill::sqlite {

enum class EventTable { main, archive };

/// Within a write transaction: removes finished events for good, and books them.
void purge_rows(Statements& statements, EventTable table, const std::vector<std::int64_t>& ids, Timestamp now);

/// What a rollup has seen, and what tells that nobody has changed the counts meanwhile.
struct RollupLook {
  std::int64_t turn{0};
  std::int64_t cursor{0};
  backends::RollupPlan plan;
};

/// Within one snapshot.
[[nodiscard]] RollupLook look_for_rollup(Statements& statements, std::size_t limit);
/// Within a write transaction; nullopt, and nothing was written, when somebody has been there since the look.
[[nodiscard]] std::optional<RollupResult> keep_rollup(Statements& statements, const RollupLook& look, Timestamp now);

[[nodiscard]] std::vector<DailyCount> read_daily_stats(Statements& statements, const DailyStatsRequest& request);

}  // namespace waybill::sqlite
