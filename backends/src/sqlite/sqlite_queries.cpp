// What a person asks.

#include <algorithm>
#include <limits>

#include "common/event_row.hpp"
#include "sqlite/sqlite_repository.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;
using View = backends::AdoptedTable::View;

struct PageText {
  std::string_view by_key;    ///< for the query in id order
  std::string_view filtered;  ///< beside another index: the + keeps the planner off the id
  std::string_view direction;
};

constexpr PageText kForward{"id > ?1", "+id > ?1", "ASC"};
constexpr PageText kBackward{"id < ?1", "+id < ?1", "DESC"};

struct StatusQuery {
  Status status;
  std::string_view text;
};

constexpr std::array<StatusQuery, 4> kStatusQueries{{{Status::pending, texts::list_pending},
                                                     {Status::in_progress, texts::list_in_progress},
                                                     {Status::failed, texts::list_failed},
                                                     {Status::cancelled, texts::list_cancelled}}};

/// The statuses that can match, from the conditions that imply one.
StatusSet possible_statuses(const EventFilter& filter) {
  StatusSet possible;
  for (const Status status : kAllStatuses) {
    const bool named = filter.statuses.empty() ||
                       std::find(filter.statuses.begin(), filter.statuses.end(), status) != filter.statuses.end();
    const bool dead = filter.dead != true || status == Status::failed;
    const bool due = !filter.due || status == Status::pending || status == Status::failed;
    const bool lease = !filter.lease_expired || status == Status::in_progress;
    if (named && dead && due && lease) possible.insert(status);
  }
  return possible;
}

std::string status_json(const EventFilter& filter) {
  std::string text;
  for (const Status status : filter.statuses)
    text += (text.empty() ? "[" : ",") + std::to_string(static_cast<int>(status));
  return text + "]";
}

void bind_filter(Statement& row, const EventFilter& filter, const std::string& statuses, Timestamp now) {
  if (filter.statuses.empty())
    row.bind(2, nullptr);
  else
    row.bind(2, statuses);
  row.bind(3, filter.dead ? std::optional<std::int64_t>(*filter.dead ? 1 : 0) : std::nullopt);
  row.bind(4, filter.due ? std::optional(now) : std::nullopt);
  row.bind(5, filter.lease_expired ? std::optional(now) : std::nullopt);
  row.bind(6, filter.event_no).bind(7, filter.aggregate_type).bind(8, filter.aggregate_id).bind(9, filter.event_type);
  row.bind(10, filter.topic).bind(11, filter.publish_channel).bind(12, filter.trace_id);
  row.bind(13, filter.created_from).bind(14, filter.created_until);
  row.bind(15, filter.min_retry_count ? std::optional<std::int64_t>(*filter.min_retry_count) : std::nullopt);
}

void run_list(Statements& statements, std::string_view text, const EventFilter& filter, const Page& page, Timestamp now,
              std::vector<Event>& events) {
  const PageText& order = page.newest_first ? kBackward : kForward;
  const std::string_view place = text == texts::list_by_id ? order.by_key : order.filtered;
  const std::string statuses = status_json(filter);
  const std::int64_t start = page.newest_first ? std::numeric_limits<std::int64_t>::max() : 0;
  const Query query(statements.get(text, order.direction.data(),
                                   {{"filter", texts::filter}, {"page", place}, {"direction", order.direction}}));
  query->bind(1, page.after_id.value_or(start)).bind(16, static_cast<std::int64_t>(page.limit));
  bind_filter(*query, filter, statuses, now);
  while (query->step()) events.push_back(backends::read_event(*query));
}

/// The query that the filter's most telling condition drives; empty: by statuses.
std::string_view driving_query(const EventFilter& filter) {
  if (filter.event_no) return texts::list_by_number;
  if (filter.aggregate_type && filter.aggregate_id) return texts::list_by_aggregate;
  if (filter.trace_id) return texts::list_by_trace;
  return possible_statuses(filter).contains(Status::succeeded) ? texts::list_by_id : std::string_view{};
}

void add_counts(Statement& row, Stats& stats, std::optional<std::int64_t>& first_pending) {
  while (row.step()) {
    const std::int64_t status = row.integer(0);
    if (status < 0 || status > 4) continue;
    stats.by_status[static_cast<std::size_t>(status)] = static_cast<std::uint64_t>(row.integer(1));
    stats.dead += static_cast<std::uint64_t>(row.integer(2));
    if (!row.is_null(3)) first_pending = row.integer(3);
  }
}

std::uint64_t count_of(Statements& statements, const std::string& counter) {
  const Query value(statements.get(texts::counter));
  value->bind(1, counter);
  return value->step() ? static_cast<std::uint64_t>(value->integer(0)) : 0;
}

std::optional<std::int64_t> optional_id(Statement& statement) {
  const Query query(statement);
  if (!query->step() || query->is_null(0)) return std::nullopt;
  return query->integer(0);
}

}  // namespace

std::optional<Event> SqliteRepository::find(std::string_view event_no) {
  return read("find", [&]() -> std::optional<Event> {
    if (adopted()) return adopted()->find(event_no);
    for (const bool archived : {false, true}) {
      const Query query(statements().get(archived ? texts::find_archived : texts::find));
      query->bind(1, event_no);
      if (!query->step()) continue;
      Event event = backends::read_event(*query);
      event.archived = archived;
      return event;
    }
    return std::nullopt;
  });
}

std::vector<Event> SqliteRepository::query_within(const EventFilter& filter, const Page& page) {
  std::vector<Event> events;
  if (page.limit == 0) return events;
  const Timestamp time = now();
  if (const std::string_view text = driving_query(filter); !text.empty()) {
    run_list(asking(View::listed), text, filter, page, time, events);
    return events;
  }
  const StatusSet possible = possible_statuses(filter);
  for (const StatusQuery& one : kStatusQueries) {
    if (!possible.contains(one.status)) continue;
    Statements& asked = asking(one.status == Status::cancelled ? View::listed : View::listed_unfinished);
    run_list(asked, one.text, filter, page, time, events);
  }
  std::sort(events.begin(), events.end(),
            [&](const Event& a, const Event& b) { return page.newest_first ? a.id > b.id : a.id < b.id; });
  if (events.size() > page.limit) events.resize(page.limit);
  return events;
}

std::vector<Event> SqliteRepository::query(const EventFilter& filter, const Page& page) {
  return read("list", [&] { return query_within(filter, page); });
}

std::optional<Timestamp> SqliteRepository::create_time_of(std::optional<std::int64_t> id) {
  if (!id) return std::nullopt;
  const Query query(asking(View::unfinished).get(texts::create_time_of));
  query->bind(1, *id);
  return query->step() ? query->optional_time(0) : std::nullopt;
}

Stats SqliteRepository::stats(const StatsRequest& request) {
  return read("stats", [&] {
    Stats stats;
    std::optional<std::int64_t> first_pending;
    const bool everything = !request.event_type && !request.topic && !request.created_from && !request.created_until;
    if (everything && !adopted()) {
      const Query counts(statements().get(texts::count_all));
      (void)counts->step();
      std::array<std::uint64_t, 5> n{};
      for (int column = 0; column < 5; ++column)
        n[static_cast<std::size_t>(column)] = static_cast<std::uint64_t>(counts->integer(column));
      stats.by_status = {n[0], n[1], n[2] - n[0] - n[1] - n[3] - n[4], n[3], n[4]};
      stats.dead = static_cast<std::uint64_t>(statements().integer(texts::count_dead));
      first_pending = optional_id(statements().get(texts::first_pending));
    } else {
      const Query counts(
          asking(View::all).get(request.event_type ? texts::count_type_by_status : texts::count_by_status));
      counts->bind(1, request.event_type)
          .bind(2, request.topic)
          .bind(3, request.created_from)
          .bind(4, request.created_until);
      add_counts(*counts, stats, first_pending);
    }
    stats.oldest_pending = create_time_of(first_pending);
    stats.purged = count_of(statements(), purged_counter());
    if (adopted()) return stats;  // no archive, no bounded buffer
    stats.archived = static_cast<std::uint64_t>(statements().integer(texts::count_archived));
    stats.dropped = count_of(statements(), "dropped");
    return stats;
  });
}

Backlog SqliteRepository::backlog() {
  return read("backlog", [&] {
    Backlog backlog;
    Statements& asked = asking(View::unfinished);
    const Query counts(asked.get(texts::count_backlog));
    (void)counts->step();
    backlog.pending = static_cast<std::uint64_t>(counts->integer(0));
    backlog.in_progress = static_cast<std::uint64_t>(counts->integer(1));
    backlog.retryable = static_cast<std::uint64_t>(counts->integer(2));
    const auto pending = optional_id(asked.get(texts::first_pending));
    const auto started = optional_id(asked.get(texts::first_started));
    backlog.oldest = create_time_of(pending && started ? std::min(pending, started) : (pending ? pending : started));
    return backlog;
  });
}

std::vector<ChannelBacklog> SqliteRepository::backlog_by_channel() {
  return read("backlog", [&] {
    std::vector<ChannelBacklog> channels;
    const Query query(asking(View::unfinished).get(texts::backlog_by_channel));
    while (query->step())
      channels.push_back(
          {std::string(query->text(0)), query->optional_text(1), static_cast<std::uint64_t>(query->integer(2))});
    return channels;
  });
}

std::optional<std::string> SqliteRepository::note(std::string_view name) {
  const std::string full = note_name(name);
  return read("note", [&]() -> std::optional<std::string> {
    const Query query(statements().get(texts::note));
    query->bind(1, full);
    return query->step() ? query->optional_text(0) : std::nullopt;
  });
}

void SqliteRepository::set_note(std::string_view name, std::string_view value) {
  const std::string full = note_name(name);
  (void)write("set note", [&] { return statements().get(texts::set_note).bind(1, full).bind(2, value).run(); });
}

}  // namespace waybill::sqlite
