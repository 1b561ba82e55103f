#include "sqlite/sqlite_rollup.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "sqlite/sqlite_buffer.hpp"
#include "sqlite/sqlite_repository.hpp"
#include "sqlite/sqlite_schema.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;
using backends::StatKey;

constexpr const char* kMain = "biz_outbox_event";
constexpr const char* kArchive = "biz_outbox_event_archive";
// Days as numbers since 1970, rounded down also before it. A time beyond what date() can tell, by plain SQL only,
// counts for the first or the last day.
constexpr const char* kDay = "max(-719528, min(2932896, (create_time + 62167219200000000) / 86400000000 - 719528))";
constexpr Day kFirstDay{std::chrono::days{-719528}};
constexpr Day kLastDay{std::chrono::days{2932896}};
constexpr const char* kStatDay = "(CAST(strftime('%s', stat_date) AS INTEGER) / 86400)";
constexpr const char* kDate = "date(?1 * 86400, 'unixepoch')";
constexpr const char* kUntil = "date(?2 * 86400, 'unixepoch')";

/// The statement with the names that these texts have in common.
Statement& get(Statements& statements, std::string_view text, const char* table = kMain) {
  return statements.get(text, table,
                        {{"day", kDay}, {"stat_day", kStatDay}, {"date", kDate}, {"until", kUntil}, {"table", table}});
}

std::int64_t number(Day day) { return day.time_since_epoch().count(); }
Day day_at(const Statement& row, int column) { return Day{std::chrono::days{row.integer(column)}}; }
std::uint64_t count_at(const Statement& row, int column) { return static_cast<std::uint64_t>(row.integer(column)); }
StatKey key_at(const Statement& row, int column) {
  return {std::string(row.text(column)), static_cast<Status>(row.integer(column + 1))};
}

std::int64_t counter(Statements& statements, std::string_view name) {
  const Query query(statements.get(texts::counter));
  query->bind(1, name);
  return query->step() ? query->integer(0) : 0;
}

std::set<Day> days_of(Statement& statement) {
  const Query query(statement);
  std::set<Day> days;
  while (query->step()) days.insert(day_at(*query, 0));
  return days;
}

class Tables final : public backends::RollupTables {
 public:
  /// `now` is of the writes.
  Tables(Statements& statements, Timestamp now) : statements_(statements), now_(now) {}

  // One writer at a time and ids that are never used twice: what comes later has a higher id.
  std::int64_t add_new_days(std::int64_t cursor, std::set<Day>& days) override {
    std::int64_t highest = cursor;
    for (const char* table : {kMain, kArchive}) {
      const Query query(get(statements_, texts::new_days, table));
      query->bind(1, cursor);
      while (query->step()) {
        days.insert(day_at(*query, 0));
        highest = std::max(highest, query->integer(1));
      }
    }
    return highest;
  }

  void add_changed_days(std::set<Day>& days) override { days.merge(days_of(get(statements_, texts::changed_days))); }
  std::set<Day> queued_days() override { return days_of(get(statements_, texts::queued_days)); }

  std::map<StatKey, backends::StatRow> stored(Day day) override {
    std::map<StatKey, backends::StatRow> rows;
    const Query query(get(statements_, texts::stat_of_day));
    query->bind(1, number(day));
    while (query->step()) rows[key_at(*query, 0)] = {count_at(*query, 2), count_at(*query, 3)};
    return rows;
  }

  std::map<StatKey, std::uint64_t> found(Day day) override {
    using Limits = std::numeric_limits<std::int64_t>;
    const auto start = [](Day of) { return Timestamp{of}.time_since_epoch().count(); };
    std::map<StatKey, std::uint64_t> counts;
    const Query query(get(statements_, texts::count_day));
    query->bind(1, day <= kFirstDay ? Limits::min() : start(day));
    query->bind(2, day >= kLastDay ? Limits::max() : start(day + std::chrono::days{1}) - 1);
    while (query->step()) counts[key_at(*query, 0)] += count_at(*query, 2);
    return counts;
  }

  void write(Day day, const backends::StatChange& change) override {
    Statement& row = get(statements_, change.events == 0 ? texts::drop_stat : texts::set_stat);
    row.bind(1, number(day)).bind(2, change.key.first).bind(3, std::int64_t{static_cast<int>(change.key.second)});
    if (change.events != 0) row.bind(4, static_cast<std::int64_t>(change.events)).bind(5, now_);
    row.run();
  }
  void queue(Day day) override { get(statements_, texts::queue_day).bind(1, number(day)).run(); }
  void unqueue(Day day) override { get(statements_, texts::unqueue_day).bind(1, number(day)).run(); }

  void book(const backends::PurgedGroup& group) override {
    Statement& row = get(statements_, texts::book_purged);
    row.bind(1, number(group.day)).bind(2, group.key.first);
    row.bind(3, std::int64_t{static_cast<int>(group.key.second)});
    row.bind(4, static_cast<std::int64_t>(group.events)).bind(5, now_).run();
  }

 private:
  Statements& statements_;
  Timestamp now_;
};

std::vector<backends::PurgedGroup> groups_of(Statements& statements, const char* table,
                                             const std::vector<std::int64_t>& ids) {
  const std::string list = json_list(ids, [](std::int64_t id) { return id; });
  std::vector<backends::PurgedGroup> groups;
  const Query query(get(statements, texts::purge_counts, table));
  query->bind(1, list);
  while (query->step())
    groups.push_back({day_at(*query, 0), key_at(*query, 1), count_at(*query, 3), query->integer(4)});
  return groups;
}

}  // namespace

void purge_rows(Statements& statements, EventTable table, const std::vector<std::int64_t>& ids, Timestamp now) {
  if (ids.empty()) return;
  const bool archived = table == EventTable::archive;
  Tables tables(statements, now);
  backends::book_purged(tables, counter(statements, "rollup_cursor"),
                        groups_of(statements, archived ? kArchive : kMain, ids));
  for (const std::int64_t id : ids)
    statements.get(archived ? texts::purge_archived : texts::delete_row).bind(1, id).run();
  add_to_counter(statements, "purged", ids.size());
  add_to_counter(statements, "rollup_turn", 1);
}

RollupLook look_for_rollup(Statements& statements, std::size_t limit) {
  RollupLook look;
  look.turn = counter(statements, "rollup_turn");
  look.cursor = counter(statements, "rollup_cursor");
  Tables tables(statements, Timestamp{});
  look.plan = backends::plan_rollup(tables, look.cursor, limit);
  return look;
}

std::optional<RollupResult> keep_rollup(Statements& statements, const RollupLook& look, Timestamp now) {
  if (counter(statements, "rollup_turn") != look.turn) return std::nullopt;
  Tables tables(statements, now);
  const RollupResult result = backends::write_rollup(tables, look.plan);
  add_to_counter(statements, "rollup_cursor", static_cast<std::uint64_t>(look.plan.cursor - look.cursor));
  add_to_counter(statements, "rollup_turn", 1);
  return result;
}

std::vector<DailyCount> read_daily_stats(Statements& statements, const DailyStatsRequest& request) {
  const auto bound = [](const std::optional<Day>& day) {
    return day ? std::optional<std::int64_t>(number(*day)) : std::nullopt;
  };
  std::vector<DailyCount> lines;
  const Query query(get(statements, texts::daily_stats));
  query->bind(1, bound(request.from)).bind(2, bound(request.until)).bind(3, request.event_type);
  while (query->step()) {
    StatKey key = key_at(*query, 1);
    lines.push_back({day_at(*query, 0), std::move(key.first), key.second, count_at(*query, 3)});
  }
  return lines;
}

// To count a day of many events takes a while, so it is done without the write lock first. Should others keep changing
// the counts meanwhile (a purge at work, say), it is done under the lock.
RollupResult SqliteRepository::rollup(std::size_t limit) {
  constexpr int kLooksWithoutLock = 3;
  if (limit == 0) return {};
  guarded("rollup", [&] {
    if (adopted()) adopted()->table().refuse_rollup();
    if (!session_->create_time_index) ensure_create_time_index(statements());
    session_->create_time_index = true;
  });
  for (int look = 0; look < kLooksWithoutLock; ++look) {
    const RollupLook seen = read("rollup", [&] { return look_for_rollup(statements(), limit); });
    if (backends::changes_nothing(seen.plan, seen.cursor)) return {0, !seen.plan.left.empty()};
    const auto kept = write("rollup", [&] { return keep_rollup(statements(), seen, now()); });
    if (kept) return *kept;
  }
  return write("rollup",
               [&] { return keep_rollup(statements(), look_for_rollup(statements(), limit), now()).value(); });
}

}  // namespace waybill::sqlite
