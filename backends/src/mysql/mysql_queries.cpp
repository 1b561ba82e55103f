// What a person asks.

#include <algorithm>
#include <variant>

#include "common/event_row.hpp"
#include "mysql/mysql_repository.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;
using View = backends::AdoptedTable::View;

/// Conditions joined by "and", with their values in order. Column names come from this file, never from outside.
class Conditions {
 public:
  using Value = std::variant<std::int64_t, std::string, Timestamp>;

  void add(std::string_view text) { sql_.append(sql_.empty() ? "" : " AND ").append(text); }
  void add(std::string_view text, Value value) {
    add(text);
    values_.push_back(std::move(value));
  }
  template <class T>
  void add_if(std::string_view text, const std::optional<T>& value) {
    if (value) add(text, *value);
  }
  [[nodiscard]] const std::string& sql() const { return sql_; }
  void bind(Statement& statement) const {
    for (const Value& value : values_) std::visit([&](const auto& one) { statement.add(one); }, value);
  }

 private:
  std::string sql_;
  std::vector<Value> values_;
};

constexpr std::string_view kDue =
    "publish_status IN (0, 3) AND NOT {dead} AND (next_retry_time IS NULL OR next_retry_time <= UTC_TIMESTAMP(6))";

std::string status_list(const std::vector<Status>& statuses) {
  std::string text;
  for (const Status status : statuses) text += (text.empty() ? "" : ", ") + std::to_string(static_cast<int>(status));
  return "publish_status IN (" + text + ")";
}

Conditions conditions_of(const EventFilter& filter) {
  Conditions conditions;
  conditions.add("deleted = 0");
  if (!filter.statuses.empty()) conditions.add(status_list(filter.statuses));
  if (filter.dead) conditions.add(*filter.dead ? "{dead}" : "NOT {dead}");
  if (filter.due) conditions.add(kDue);
  if (filter.lease_expired) conditions.add("publish_status = 1 AND lock_until <= UTC_TIMESTAMP(6)");
  conditions.add_if("event_no = ?", filter.event_no);
  conditions.add_if("aggregate_type = ?", filter.aggregate_type);
  conditions.add_if("aggregate_id = ?", filter.aggregate_id);
  conditions.add_if("event_type = ?", filter.event_type);
  conditions.add_if("topic = ?", filter.topic);
  conditions.add_if("publish_channel = ?", filter.publish_channel);
  conditions.add_if("trace_id = ?", filter.trace_id);
  conditions.add_if("create_time >= ?", filter.created_from);
  conditions.add_if("create_time < ?", filter.created_until);
  if (filter.min_retry_count) conditions.add("retry_count >= ?", std::int64_t{*filter.min_retry_count});
  return conditions;
}

/// The claim index finds the few that are not done; the server would rather walk the table by id.
std::string_view index_for(const EventFilter& filter) {
  if (filter.event_no || filter.trace_id || (filter.aggregate_type && filter.aggregate_id)) return "";
  const bool maybe_succeeded = filter.statuses.empty() ? !(filter.due || filter.lease_expired || filter.dead == true)
                                                       : std::find(filter.statuses.begin(), filter.statuses.end(),
                                                                   Status::succeeded) != filter.statuses.end();
  return maybe_succeeded ? "" : "FORCE INDEX (idx_status_retry_time)";
}

Conditions conditions_of(const StatsRequest& request) {
  Conditions conditions;
  conditions.add("deleted = 0");
  conditions.add_if("event_type = ?", request.event_type);
  conditions.add_if("topic = ?", request.topic);
  conditions.add_if("create_time >= ?", request.created_from);
  conditions.add_if("create_time < ?", request.created_until);
  return conditions;
}

std::uint64_t count_of(const Statement& row, int column) { return static_cast<std::uint64_t>(row.integer(column)); }

std::optional<Timestamp> create_time_of(Statements& statements, std::optional<std::int64_t> id) {
  if (!id) return std::nullopt;
  const Query query(statements.get(texts::create_time_of).add(*id));
  return query->next() ? query->optional_time(0) : std::nullopt;
}

}  // namespace

std::optional<Event> MysqlRepository::find(std::string_view event_no) {
  return read("find", [&]() -> std::optional<Event> {
    if (adopted()) return adopted()->find(event_no);
    for (const bool archived : {false, true}) {
      const Query query(statements().get(archived ? texts::find_archived : texts::find).add(event_no));
      if (!query->next()) continue;
      Event event = backends::read_event(*query);
      event.archived = archived;
      return event;
    }
    return std::nullopt;
  });
}

std::vector<Event> MysqlRepository::query_within(const EventFilter& filter, const Page& page) {
  std::vector<Event> events;
  if (page.limit == 0) return events;
  Conditions conditions = conditions_of(filter);
  if (page.after_id) conditions.add(page.newest_first ? "id < ?" : "id > ?", *page.after_id);
  const std::string_view index = index_for(filter);
  const bool maybe_cancelled = std::count(filter.statuses.begin(), filter.statuses.end(), Status::cancelled) != 0;
  Statement list = asking(index.empty() || maybe_cancelled ? View::listed : View::listed_unfinished)
                       .prepare(texts::list, {{"index", index},
                                              {"conditions", conditions.sql()},
                                              {"direction", page.newest_first ? "DESC" : "ASC"}});
  conditions.bind(list);
  list.add(static_cast<std::int64_t>(page.limit));
  const Query rows(list);
  while (rows->next()) events.push_back(backends::read_event(*rows));
  return events;
}

std::vector<Event> MysqlRepository::query(const EventFilter& filter, const Page& page) {
  return read("list", [&] { return query_within(filter, page); });
}

Stats MysqlRepository::stats(const StatsRequest& request) {
  return read("stats", [&] {
    Stats stats;
    std::optional<std::int64_t> first_pending;
    {
      const Conditions conditions = conditions_of(request);
      Statement counts = asking(View::all).prepare(texts::count_by_status, {{"conditions", conditions.sql()}});
      conditions.bind(counts);
      const Query rows(counts);
      while (rows->next()) {
        const std::int64_t status = rows->integer(0);
        if (status < 0 || status > 4) continue;
        stats.by_status[static_cast<std::size_t>(status)] = count_of(*rows, 1);
        stats.dead += count_of(*rows, 2);
        if (!rows->is_null(3)) first_pending = rows->integer(3);
      }
    }
    stats.oldest_pending = create_time_of(asking(View::unfinished), first_pending);
    const auto counter = [&](const std::string& name) {
      const Query value(statements().get(texts::counter).add(std::string_view(name)));
      return value->next() ? count_of(*value, 0) : 0;
    };
    stats.purged = counter(purged_counter());
    if (adopted()) return stats;  // no archive
    stats.archived = static_cast<std::uint64_t>(statements().integer(texts::count_archived));
    stats.dropped = counter("dropped");
    return stats;
  });
}

Backlog MysqlRepository::backlog() {
  return read("backlog", [&] {
    Backlog backlog;
    std::optional<std::int64_t> oldest;
    {
      const Query rows(asking(View::unfinished).get(texts::count_backlog));
      while (rows->next()) {
        const std::uint64_t living = count_of(*rows, 1) - count_of(*rows, 2);
        switch (static_cast<Status>(rows->integer(0))) {
          case Status::pending:
            backlog.pending = living;
            break;
          case Status::in_progress:
            backlog.in_progress = living;
            break;
          default:
            backlog.retryable = living;
        }
        if (!rows->is_null(3)) oldest = oldest ? std::min(*oldest, rows->integer(3)) : rows->integer(3);
      }
    }
    backlog.oldest = create_time_of(asking(View::unfinished), oldest);
    return backlog;
  });
}

std::vector<ChannelBacklog> MysqlRepository::backlog_by_channel() {
  return read("backlog", [&] {
    std::vector<ChannelBacklog> channels;
    const Query rows(asking(View::unfinished).get(texts::backlog_by_channel));
    while (rows->next()) channels.push_back({std::string(rows->text(0)), rows->optional_text(1), count_of(*rows, 2)});
    return channels;
  });
}

std::optional<std::string> MysqlRepository::note(std::string_view name) {
  const std::string full = note_name(name);
  return read("note", [&]() -> std::optional<std::string> {
    const Query query(statements().get(texts::note).add(std::string_view(full)));
    return query->next() ? query->optional_text(0) : std::nullopt;
  });
}

void MysqlRepository::set_note(std::string_view name, std::string_view value) {
  const std::string full = note_name(name);
  (void)write("set note",
              [&] { return statements().get(texts::set_note).add(std::string_view(full)).add(value).run(); });
}

}  // namespace waybill::mysql
