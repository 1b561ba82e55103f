#include "fixture.hpp"

#include <chrono>

#include "interrupt.hpp"
#include "naive.hpp"
#include "sqlite_handle.hpp"

namespace waybill::bench {
namespace {

// ?1 first number, ?2 last number, ?3 now, ?4 blocked aggregates. The payload is that of samples.cpp.
constexpr const char* kInsert = R"sql(
INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, publish_channel,
    topic, event_payload, publish_status, retry_count, next_retry_time, last_publish_time, published_time, fail_reason,
    version, create_time, update_time)
WITH RECURSIVE n(x) AS (SELECT ?1 UNION ALL SELECT x + 1 FROM n WHERE x < ?2)
SELECT printf('EVT%017d', x), 'ORDER', %AGGREGATE%, 'ORDER_CREATED', 'order-service', 'MQ', 'order.created',
    printf('{"order":"EVT%017d","customer":%d,"total_cents":%d,"currency":"EUR","paid":true,"note":"%s"}', x,
           10000 + x * 7919 % 90000, 10000 + x * 104729 % 90000, ?5),
    %STATE%, ?3 + x, ?3 + x
FROM n
)sql";

/// SQL for publish_status, retry_count, next_retry_time, last_publish_time, published_time, fail_reason, version.
const char* state_of(RowKind kind) {
  switch (kind) {
    case RowKind::finished:
      return "2, 0, NULL, ?3 + x, ?3 + x, NULL, 1";
    case RowKind::pending:
    case RowKind::followers:
      return "0, 0, NULL, NULL, NULL, NULL, 0";
    case RowKind::dead:
    case RowKind::heads:
      return "3, 5, NULL, ?3 + x, NULL, 'HTTP 503', 5";
    case RowKind::future:
      return "CASE x % 2 WHEN 0 THEN 0 ELSE 3 END, x % 2, ?3 + 86400000000 + x, NULL, NULL, NULL, x % 2";
  }
  return "";
}

std::string replaced(std::string text, const std::string& mark, const std::string& by) {
  return text.replace(text.find(mark), mark.size(), by);
}

std::string insert_sql(RowKind kind) {
  const bool blocked = kind == RowKind::followers || kind == RowKind::heads;
  const char* aggregate =
      blocked ? "printf('blocked-%d', x % ?4)" : "printf('order-%d', x * 2654435761 % 4294967296 % 100000)";
  return replaced(replaced(kInsert, "%AGGREGATE%", aggregate), "%STATE%", state_of(kind));
}

std::int64_t now_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The filler that makes a payload of x exactly kPayloadBytes long.
std::string filler() {
  const std::size_t fixed = Samples(kFirstSample).one().event_payload.find("\"note\":\"") + 8;
  return std::string(kPayloadBytes - 2 - fixed, 'n');
}

void insert_rows(sqlite3* database, const Rows& rows) {
  const Statement insert = prepare(database, insert_sql(rows.kind));
  const std::string note = filler();
  bind(insert.get(), 1, static_cast<std::int64_t>(rows.first));
  bind(insert.get(), 2, static_cast<std::int64_t>(rows.first + rows.count - 1));
  bind(insert.get(), 3, now_microseconds());
  if (sqlite3_bind_parameter_count(insert.get()) >= 4) bind(insert.get(), 4, static_cast<std::int64_t>(rows.blocked));
  bind(insert.get(), 5, std::string_view(note));
  const int code = sqlite3_step(insert.get());
  check_interrupt();
  require(database, code == SQLITE_DONE);
}

void add_everywhere(Context& context, const Rows& rows, const std::string& what) {
  context.progress("writing " + std::to_string(rows.count) + " " + what + " rows");
  fill(context.history->ours, rows);
  fill(context.history->naive, rows);
}

}  // namespace

void fill(const std::filesystem::path& file, const Rows& rows) {
  {
    const Database database = open_database(file);
    execute(database.get(), "PRAGMA journal_mode=OFF");
    execute(database.get(), "PRAGMA synchronous=OFF");
    execute(database.get(), "PRAGMA cache_size=-262144");
    sqlite3_progress_handler(
        database.get(), 100'000, [](void*) { return interrupted() ? 1 : 0; }, nullptr);
    insert_rows(database.get(), rows);
    sqlite3_progress_handler(database.get(), 0, nullptr, nullptr);
    execute(database.get(), "PRAGMA journal_mode=WAL");
  }
  sync_file(file);
}

const History& history_of(Context& context, bool crowded) {
  const Sizes& sizes = context.sizes;
  constexpr std::uint64_t kBytesPerRow = 1000;  // with its index entries, both sides' WAL and some room
  std::uint64_t number = 1;
  if (!context.history) {
    context.workspace.require_room(2 * kBytesPerRow * (sizes.finished + (crowded ? sizes.pending : 0)));
    History files{context.workspace.fresh("history-ours"), context.workspace.fresh("history-naive")};
    context.store.create(files.ours);
    NaiveLoop::create(files.naive);
    context.history = files;
    add_everywhere(context, {RowKind::finished, number, sizes.finished}, "finished");
  }
  number += sizes.finished;
  if (crowded && !context.history->crowded) {
    context.workspace.require_room(2 * kBytesPerRow * sizes.pending);
    add_everywhere(context, {RowKind::dead, number, sizes.dead}, "dead");
    number += sizes.dead;
    add_everywhere(context, {RowKind::future, number, sizes.future}, "future");
    number += sizes.future;
    add_everywhere(context, {RowKind::pending, number, sizes.pending}, "pending");
    context.history->crowded = true;
  }
  return *context.history;
}

}  // namespace waybill::bench
