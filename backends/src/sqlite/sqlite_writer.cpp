#include "sqlite/sqlite_writer.hpp"

#include "common/event_row.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;

std::uint64_t bytes_of(std::span<const NewEvent> events) {
  constexpr std::uint64_t kRowAndIndexes = 300;
  std::uint64_t sum = 0;
  for (const NewEvent& event : events) {
    sum += kRowAndIndexes + event.event_payload.size() + (event.event_headers ? event.event_headers->size() : 0);
    sum += 2 * (event.event_no.size() + event.aggregate_type.size() + event.aggregate_id.size());
  }
  return sum;
}

bool insert(Statements& statements, const NewEvent& event, Timestamp now) {
  Statement& row = statements.get(texts::append);
  row.bind(1, event.event_no).bind(2, event.aggregate_type).bind(3, event.aggregate_id).bind(4, event.event_type);
  row.bind(5, std::int64_t{event.event_version}).bind(6, event.event_source).bind(7, event.publish_channel);
  row.bind(8, event.topic).bind(9, event.routing_key).bind(10, event.event_payload).bind(11, event.event_headers);
  row.bind(12, event.trace_id).bind(13, event.remark).bind(14, std::int64_t{event.max_retry_count});
  row.bind(15, event.next_retry_time).bind(16, event.create_time.value_or(now)).bind(17, now);
  return row.run() == 1;
}

AppendResult compare(Statements& statements, std::string_view find, const NewEvent& event, bool& found) {
  const Query query(statements.get(find));
  query->bind(1, event.event_no);
  found = query->step();
  if (!found) return {};
  const Event stored = backends::read_event(*query);
  std::string difference = content_difference(stored, event);
  const AppendStatus status = difference.empty() ? AppendStatus::duplicate : AppendStatus::conflict;
  return {status, stored.id, std::move(difference)};
}

AppendResult append_one(Statements& statements, const NewEvent& event, bool look_into_archive, Timestamp now) {
  bool found = false;
  if (look_into_archive) {
    AppendResult archived = compare(statements, texts::find_archived, event, found);
    if (found) return archived;
  }
  if (insert(statements, event, now)) return {AppendStatus::inserted, sqlite3_last_insert_rowid(statements.db()), {}};
  return compare(statements, texts::find, event, found);
}

}  // namespace

std::uint64_t wal_bytes_needed(std::span<const NewEvent> events) { return 3 * bytes_of(events) + kPageSlack; }

Appended append_events(Statements& statements, std::span<const NewEvent> events, const Bounds& bounds, Timestamp now) {
  Appended appended;
  appended.dropped = make_byte_room(statements, bounds, bytes_of(events), now);
  const bool look_into_archive = statements.integer(texts::archive_in_use) != 0;
  appended.results.reserve(events.size());
  for (const NewEvent& event : events)
    appended.results.push_back(append_one(statements, event, look_into_archive, now));
  appended.dropped += enforce_max_events(statements, bounds);
  return appended;
}

}  // namespace waybill::sqlite
