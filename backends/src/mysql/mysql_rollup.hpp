#pragma once
// The daily counts in a MySQL or MariaDB database.

#include <span>
#include <vector>

#include "common/rollup.hpp"
#include "mysql/mysql_statement.hpp"

namespace waybill::mysql {

enum class EventTable { main, archive };

/// Within a transaction that locked the cursor: books finished events that are about to be purged. At most kMostPlaces.
void book_purged(Statements& statements, EventTable table, std::int64_t cursor, std::span<const std::int64_t> ids);
/// Takes the turn among rollups and purges, to the end of the transaction. Returns the cursor.
[[nodiscard]] std::int64_t lock_rollup_cursor(Statements& statements);
/// Within a transaction; `now` is the server's.
[[nodiscard]] RollupResult run_rollup(Statements& statements, Timestamp now, std::size_t limit);
[[nodiscard]] std::vector<DailyCount> read_daily_stats(Statements& statements, const DailyStatsRequest& request);

}  // namespace waybill::mysql
