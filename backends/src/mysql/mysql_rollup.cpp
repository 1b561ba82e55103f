#include "mysql/mysql_rollup.hpp"

#include <algorithm>
#include <string>

#include "mysql/mysql_repository.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;
using backends::StatKey;

constexpr std::string_view kCursor = "rollup_cursor";
constexpr std::string_view kClosed = "rollup_closed";
constexpr std::chrono::hours kLongestTransaction{1};
constexpr std::int64_t kPart = 100000;  ///< rows looked through by one statement: some 100 ms
constexpr const char* kMain = "biz_outbox_event";
constexpr const char* kArchive = "biz_outbox_event_archive";
// Days as numbers since 1970, which is day 719528 of the server's count.
constexpr const char* kDay = "(TO_DAYS(create_time) - 719528)";
constexpr const char* kStatDay = "(TO_DAYS(stat_date) - 719528)";
constexpr const char* kDate = "FROM_DAYS(? + 719528)";

/// The statement with the names that these texts have in common.
Statement& get(Statements& statements, std::string_view text, const char* table = kMain) {
  return statements.get(text, table, {{"day", kDay}, {"stat_day", kStatDay}, {"date", kDate}, {"table", table}});
}

std::int64_t number(Day day) { return day.time_since_epoch().count(); }
Day day_at(const Statement& row, int column) { return Day{std::chrono::days{row.integer(column)}}; }
std::uint64_t count_at(const Statement& row, int column) { return static_cast<std::uint64_t>(row.integer(column)); }
StatKey key_at(const Statement& row, int column) {
  return {std::string(row.text(column)), static_cast<Status>(row.integer(column + 1))};
}

/// Statuses of the table; what else a foreign program may have written there is not counted, as in stats().
bool is_known(Status status) {
  return std::find(kAllStatuses.begin(), kAllStatuses.end(), status) != kAllStatuses.end();
}

std::set<Day> days_of(Statement& statement) {
  const Query rows(statement);
  std::set<Day> days;
  while (rows->next()) days.insert(day_at(*rows, 0));
  return days;
}

/// The last day that is over, as a number: as of the last rollup, and now.
struct LastClosed {
  std::int64_t before{0};
  std::int64_t now{0};
};

class Tables final : public backends::RollupTables {
 public:
  explicit Tables(Statements& statements, LastClosed closed = {}) : statements_(statements), closed_(closed) {}

  // The archive comes second: an event that moves meanwhile is seen at least once.
  std::int64_t add_new_days(std::int64_t cursor, std::set<Day>& days) override {
    std::int64_t highest = cursor;
    for (const char* table : {kMain, kArchive}) {
      std::int64_t seen = kPart;
      for (std::int64_t after = cursor; seen == kPart;) {
        seen = 0;
        const Query rows(get(statements_, texts::new_days, table).add(after).add(kPart));
        while (rows->next()) {
          days.insert(day_at(*rows, 0));
          after = std::max(after, rows->integer(1));
          seen += rows->integer(2);
        }
        highest = std::max(highest, after);
      }
    }
    return highest;
  }

  // A transaction may commit lower ids than others before it: each day is counted once more when it is over.
  void add_changed_days(std::set<Day>& days) override {
    days.merge(days_of(get(statements_, texts::changed_days)));
    days.merge(days_of(get(statements_, texts::closing_days).add(closed_.before).add(closed_.now)));
  }
  std::set<Day> queued_days() override { return days_of(get(statements_, texts::queued_days)); }

  std::map<StatKey, backends::StatRow> stored(Day day) override {
    std::map<StatKey, backends::StatRow> counts;
    const Query rows(get(statements_, texts::stat_of_day).add(number(day)));
    while (rows->next()) counts[key_at(*rows, 0)] = {count_at(*rows, 2), count_at(*rows, 3)};
    return counts;
  }

  std::map<StatKey, std::uint64_t> found(Day day) override {
    const Timestamp first = day;
    const Timestamp last = first + std::chrono::days{1} - Duration{1};  // what comes after may be no DATETIME
    std::map<StatKey, std::uint64_t> counts;
    const Query rows(get(statements_, texts::count_day).add(first).add(last).add(first).add(last));
    while (rows->next())
      if (const StatKey key = key_at(*rows, 0); is_known(key.second)) counts[key] += count_at(*rows, 2);
    return counts;
  }

  void write(Day day, const backends::StatChange& change) override {
    Statement& row = get(statements_, change.events == 0 ? texts::drop_stat : texts::set_stat);
    row.add(number(day)).add(std::string_view(change.key.first)).add(std::int64_t{static_cast<int>(change.key.second)});
    if (change.events != 0) row.add(static_cast<std::int64_t>(change.events));
    row.run();
  }
  void queue(Day day) override { get(statements_, texts::queue_day).add(number(day)).run(); }
  void unqueue(Day day) override { get(statements_, texts::unqueue_day).add(number(day)).run(); }

  void book(const backends::PurgedGroup& group) override {
    Statement& row = get(statements_, texts::book_purged);
    row.add(number(group.day)).add(std::string_view(group.key.first));
    row.add(std::int64_t{static_cast<int>(group.key.second)}).add(static_cast<std::int64_t>(group.events)).run();
  }

 private:
  Statements& statements_;
  LastClosed closed_;
};

std::int64_t counter(Statements& statements, std::string_view name) {
  const Query value(statements.get(texts::counter).add(name));
  return value->next() ? value->integer(0) : 0;
}

void move_counter(Statements& statements, std::string_view name, std::int64_t by) {
  if (by != 0) statements.get(texts::add_to_counter).add(name).add(by).run();
}

}  // namespace

void book_purged(Statements& statements, EventTable table, std::int64_t cursor, std::span<const std::int64_t> ids) {
  std::vector<backends::PurgedGroup> groups;
  {
    Statement& counts =
        statements.get_list(texts::purge_counts, ids.size(), table == EventTable::main ? kMain : kArchive);
    const Query rows(counts.add_list(ids, [](std::int64_t id) { return id; }));
    while (rows->next()) groups.push_back({day_at(*rows, 0), key_at(*rows, 1), count_at(*rows, 3), rows->integer(4)});
  }
  Tables tables(statements);
  backends::book_purged(tables, cursor, groups);
}

// To add nothing locks the counter, and makes it when it is not there.
std::int64_t lock_rollup_cursor(Statements& statements) {
  statements.get(texts::add_to_counter).add(kCursor).add(std::int64_t{0}).run();
  return counter(statements, kCursor);
}

RollupResult run_rollup(Statements& statements, Timestamp now, std::size_t limit) {
  const std::int64_t cursor = lock_rollup_cursor(statements);
  const std::int64_t last_over = number(day_of(now - kLongestTransaction)) - 1;
  const LastClosed closed{counter(statements, kClosed), std::max(last_over, counter(statements, kClosed))};
  Tables tables(statements, closed);
  const backends::RollupPlan plan = backends::plan_rollup(tables, cursor, limit);
  const RollupResult result = backends::write_rollup(tables, plan);
  move_counter(statements, kCursor, plan.cursor - cursor);
  move_counter(statements, kClosed, closed.now - closed.before);
  return result;
}

std::vector<DailyCount> read_daily_stats(Statements& statements, const DailyStatsRequest& request) {
  std::string conditions = "event_count > 0";
  if (request.from) conditions += " AND stat_date >= {date}";
  if (request.until) conditions += " AND stat_date < {date}";
  if (request.event_type) conditions += " AND event_type = ?";
  Statement list =
      statements.prepare(texts::daily_stats, {{"conditions", conditions}, {"stat_day", kStatDay}, {"date", kDate}});
  for (const auto& day : {request.from, request.until})
    if (day) list.add(number(*day));
  if (request.event_type) list.add(std::string_view(*request.event_type));
  std::vector<DailyCount> lines;
  const Query rows(list);
  while (rows->next()) {
    StatKey key = key_at(*rows, 1);
    lines.push_back({day_at(*rows, 0), std::move(key.first), key.second, count_at(*rows, 3)});
  }
  return lines;
}

// After a lost COMMIT the same again is right, whether it was done or not.
RollupResult MysqlRepository::rollup(std::size_t limit) {
  if (limit == 0) return {};
  const auto once = [&] {
    return transact("rollup", [&] {
      if (adopted()) adopted()->table().refuse_rollup();
      return run_rollup(statements(), session_->connection.now(), limit);
    });
  };
  try {
    return once();
  } catch (const LostCommit& lost) {
    return look_up("rollup", lost, once);
  }
}

}  // namespace waybill::mysql
