#include "naive.hpp"

#include <algorithm>
#include <chrono>

namespace waybill::bench {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE biz_outbox_event (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    event_no          TEXT    NOT NULL,
    aggregate_type    TEXT    NOT NULL,
    aggregate_id      TEXT    NOT NULL,
    event_type        TEXT    NOT NULL,
    event_version     INTEGER NOT NULL DEFAULT 1,
    event_source      TEXT    NOT NULL,
    publish_channel   TEXT    NOT NULL,
    topic             TEXT,
    routing_key       TEXT,
    event_payload     TEXT    NOT NULL,
    event_headers     TEXT,
    publish_status    INTEGER NOT NULL DEFAULT 0,
    retry_count       INTEGER NOT NULL DEFAULT 0,
    max_retry_count   INTEGER NOT NULL DEFAULT 5,
    next_retry_time   INTEGER,
    locked_by         TEXT,
    lock_until        INTEGER,
    last_publish_time INTEGER,
    published_time    INTEGER,
    fail_reason       TEXT,
    trace_id          TEXT,
    remark            TEXT,
    version           INTEGER NOT NULL DEFAULT 0,
    deleted           INTEGER NOT NULL DEFAULT 0,
    create_time       INTEGER NOT NULL,
    update_time       INTEGER NOT NULL
);
CREATE UNIQUE INDEX uk_event_no ON biz_outbox_event (event_no);
CREATE INDEX idx_pending ON biz_outbox_event (next_retry_time) WHERE publish_status = 0 AND deleted = 0;
CREATE INDEX idx_aggregate ON biz_outbox_event (aggregate_type, aggregate_id);
)sql";

constexpr const char* kInsert = R"sql(
INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_version, event_source,
    publish_channel, topic, routing_key, event_payload, event_headers, trace_id, remark, max_retry_count,
    next_retry_time, create_time, update_time)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16)
)sql";

// The order by next_retry_time, id is that of the index, so the inner SELECT stops after ?4 entries.
constexpr const char* kClaim = R"sql(
UPDATE biz_outbox_event
SET publish_status = 1, locked_by = ?1, lock_until = ?2, last_publish_time = ?3, update_time = ?3, version = version + 1
WHERE id IN (SELECT id FROM biz_outbox_event AS e
             WHERE publish_status = 0 AND deleted = 0 AND (next_retry_time IS NULL OR next_retry_time <= ?3) %ORDERED%
             ORDER BY next_retry_time, id LIMIT ?4)
RETURNING id, version, event_version, retry_count, max_retry_count, create_time, event_no, aggregate_type, aggregate_id,
    event_type, event_source, publish_channel, topic, routing_key, event_payload, event_headers, trace_id
)sql";

constexpr const char* kHeadsOnly = R"sql(
AND NOT EXISTS (SELECT 1 FROM biz_outbox_event AS p
                WHERE p.aggregate_type = e.aggregate_type AND p.aggregate_id = e.aggregate_id AND p.id < e.id
                  AND p.publish_status NOT IN (2, 4) AND p.deleted = 0)
)sql";

constexpr const char* kSettle = R"sql(
UPDATE biz_outbox_event
SET publish_status = 2, published_time = ?1, update_time = ?1, fail_reason = NULL, locked_by = NULL, lock_until = NULL
WHERE id = ?2 AND version = ?3 AND publish_status = 1
)sql";

constexpr const char* kOwner = "bench";
constexpr std::int64_t kLeaseMicroseconds = 30'000'000;
constexpr int kBusyMilliseconds = 10'000;
/// What our store sets (kCachePages in sqlite_connection.cpp).
constexpr int kCacheKiB = 16384;

std::int64_t now_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string claim_sql(bool ordered) {
  std::string sql = kClaim;
  const std::string mark = "%ORDERED%";
  return sql.replace(sql.find(mark), mark.size(), ordered ? kHeadsOnly : "");
}

void bind(sqlite3_stmt* statement, int index, const std::optional<std::string>& text) {
  if (text) bench::bind(statement, index, std::string_view(*text));
}

NaiveEvent read_row(sqlite3_stmt* row) {
  NaiveEvent event;
  int column = 0;
  for (std::int64_t NaiveEvent::*field :
       {&NaiveEvent::id, &NaiveEvent::version, &NaiveEvent::event_version, &NaiveEvent::retry_count,
        &NaiveEvent::max_retry_count, &NaiveEvent::create_time})
    event.*field = sqlite3_column_int64(row, column++);
  for (std::string NaiveEvent::*field :
       {&NaiveEvent::event_no, &NaiveEvent::aggregate_type, &NaiveEvent::aggregate_id, &NaiveEvent::event_type,
        &NaiveEvent::event_source, &NaiveEvent::publish_channel, &NaiveEvent::topic, &NaiveEvent::routing_key,
        &NaiveEvent::event_payload, &NaiveEvent::event_headers, &NaiveEvent::trace_id})
    event.*field = text_of(row, column++);
  return event;
}

}  // namespace

void NaiveLoop::create(const std::filesystem::path& file) {
  const Database database = open_database(file);
  execute(database.get(), "PRAGMA journal_mode=WAL");
  execute(database.get(), kSchema);
}

NaiveLoop::NaiveLoop(const std::filesystem::path& file, const NaiveOptions& options) : database_(open_database(file)) {
  sqlite3* database = database_.get();
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  execute(database, options.full_sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  execute(database, "PRAGMA cache_size=-" + std::to_string(kCacheKiB));
  begin_ = prepare(database, "BEGIN IMMEDIATE");
  commit_ = prepare(database, "COMMIT");
  insert_ = prepare(database, kInsert);
  claim_ = prepare(database, claim_sql(options.ordered));
  settle_ = prepare(database, kSettle);
}

void NaiveLoop::run(const Statement& statement) {
  const int code = sqlite3_step(statement.get());
  sqlite3_reset(statement.get());
  require(database_.get(), code == SQLITE_DONE);
}

void NaiveLoop::insert(const NewEvent& event, std::int64_t now) {
  sqlite3_stmt* row = insert_.get();
  sqlite3_clear_bindings(row);
  bench::bind(row, 1, std::string_view(event.event_no));
  bench::bind(row, 2, std::string_view(event.aggregate_type));
  bench::bind(row, 3, std::string_view(event.aggregate_id));
  bench::bind(row, 4, std::string_view(event.event_type));
  bench::bind(row, 5, std::int64_t{event.event_version});
  bench::bind(row, 6, std::string_view(event.event_source));
  bench::bind(row, 7, std::string_view(event.publish_channel));
  bind(row, 8, event.topic);
  bind(row, 9, event.routing_key);
  bench::bind(row, 10, std::string_view(event.event_payload));
  bind(row, 11, event.event_headers);
  bind(row, 12, event.trace_id);
  bind(row, 13, event.remark);
  bench::bind(row, 14, std::int64_t{event.max_retry_count});
  if (event.next_retry_time) bench::bind(row, 15, std::int64_t{event.next_retry_time->time_since_epoch().count()});
  bench::bind(row, 16, now);
  run(insert_);
}

void NaiveLoop::append(std::span<const NewEvent> events) {
  run(begin_);
  const std::int64_t now = now_microseconds();
  for (const NewEvent& event : events) insert(event, now);
  run(commit_);
}

std::vector<NaiveEvent> NaiveLoop::claim(std::size_t limit) {
  run(begin_);
  const std::int64_t now = now_microseconds();
  sqlite3_stmt* row = claim_.get();
  bench::bind(row, 1, std::string_view(kOwner));
  bench::bind(row, 2, now + kLeaseMicroseconds);
  bench::bind(row, 3, now);
  bench::bind(row, 4, static_cast<std::int64_t>(limit));
  std::vector<NaiveEvent> events;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(row)) == SQLITE_ROW) events.push_back(read_row(row));
  sqlite3_reset(row);
  require(database_.get(), code == SQLITE_DONE);
  run(commit_);
  std::sort(events.begin(), events.end(), [](const NaiveEvent& a, const NaiveEvent& b) { return a.id < b.id; });
  return events;
}

void NaiveLoop::settle(const std::vector<NaiveEvent>& events) {
  run(begin_);
  const std::int64_t now = now_microseconds();
  for (const NaiveEvent& event : events) {
    bench::bind(settle_.get(), 1, now);
    bench::bind(settle_.get(), 2, event.id);
    bench::bind(settle_.get(), 3, event.version);
    run(settle_);
    if (sqlite3_changes(database_.get()) != 1) throw std::runtime_error("the hand-written loop lost a claim");
  }
  run(commit_);
}

std::size_t NaiveLoop::relay(std::size_t limit) {
  const std::vector<NaiveEvent> events = claim(limit);
  if (!events.empty()) settle(events);
  return events.size();
}

}  // namespace waybill::bench
