// The daily counts in an SQLite file: what is left alone, what it costs, and what plain SQL may do to them.

#include <algorithm>

#include "backends/sqlite_fixture.hpp"
#include "backends/statement_trace.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kCounts =
    "SELECT stat_date || ' ' || event_type || ' ' || publish_status || ' ' || event_count FROM biz_event_stat "
    "WHERE event_count > 0 ORDER BY stat_date, event_type, publish_status";

using Rows = std::vector<std::string>;

void append_created(IEventRepository& store, const std::string& number, Timestamp time) {
  NewEvent event = make_event(number);
  event.create_time = time;
  append(store, event);
}

void roll_up(IEventRepository& store) {
  while (store.rollup(100).more) continue;
}

/// Rows by plain SQL; the times are microseconds or what else `create_time` says.
void insert_plain(SQLite::Database& database, const std::string& number, const std::string& create_time,
                  const std::string& deleted = "0") {
  database.exec(
      "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
      "publish_channel, event_payload, create_time, deleted) VALUES ('" +
      number + "', 'ORDER', '1', 'CREATED', 'plain', 'MQ', '{}', " + create_time + ", " + deleted + ")");
}

// A number that no count would give tells a day that was counted again from one that was not.
TEST_CASE("a day in which nothing changed is not counted again") {
  StoreFile file;
  file.clock->set(parse_time("2026-05-13T12:00:00Z").value());
  const auto store = file.create();
  const Timestamp old = file.clock->now() - 240h;
  append_created(*store, "E1", old);
  deliver_all(*store);
  append_created(*store, "dead", old);
  (void)settle(*store, settlement_of(store->claim(claim_request()).events.at(0), Command::reject));
  roll_up(*store);
  SQLite::Database database = file.other_program();
  const Rows expected{"2026-05-03 ORDER_CREATED 2 1", "2026-05-03 ORDER_CREATED 3 1"};
  REQUIRE(rows_of(database, kCounts) == expected);
  REQUIRE(database.exec("UPDATE biz_event_stat SET event_count = 77 WHERE publish_status = 2") == 1);

  append_created(*store, "today", file.clock->now());
  roll_up(*store);
  file.clock->advance(48h);
  (void)store->archive(file.clock->now(), 10);
  (void)store->purge(file.clock->now(), 10);
  roll_up(*store);
  CHECK(rows_of(database, kCounts).front() == "2026-05-03 ORDER_CREATED 2 77");
  append_created(*store, "late", old);
  roll_up(*store);
  CHECK(rows_of(database, kCounts).front() == "2026-05-03 ORDER_CREATED 0 1");
  CHECK(rows_of(database, kCounts).at(1) == expected.front());  // purged, but counted for ever
}

TEST_CASE("a rollup that finds nothing writes nothing") {
  StoreFile file;
  const auto store = file.create();
  append(*store, make_event("E1"));
  roll_up(*store);
  SQLite::Database database = file.other_program();
  const std::int64_t before = number_of(database, "PRAGMA data_version");
  CHECK(store->rollup(10) == RollupResult{});
  CHECK(number_of(database, "PRAGMA data_version") == before);
}

TEST_CASE("the index of the days is made by the first rollup only") {
  StoreFile file;
  const auto store = file.create();
  append(*store, make_event("E1"));
  SQLite::Database database = file.other_program();
  const std::string index = "SELECT count(*) FROM sqlite_schema WHERE name = 'idx_create_time'";
  CHECK(number_of(database, index) == 0);
  roll_up(*store);
  CHECK(number_of(database, index) == 1);
  roll_up(*file.open());
  CHECK(file.open(OpenMode::read_only)->daily_stats({}).size() == 1);
}

TEST_CASE("events of a store of the version before have their days, too") {
  StoreFile file;
  SQLite::Database database = file.other_program();
  database.exec(std::string(sql::sqlite::create_version_table));
  for (std::size_t i = 0; i < 4; ++i) {
    database.exec(std::string(sql::sqlite::kSchema[i].text));
    database.exec("INSERT INTO waybill_schema VALUES (" + std::to_string(i + 1) + ", 'old', 0)");
  }
  insert_plain(database, "P1", "0");
  insert_plain(database, "P2", "86400000000");
  database.exec("INSERT INTO biz_outbox_event_archive SELECT *, 0 FROM biz_outbox_event WHERE event_no = 'P2'");
  database.exec("DELETE FROM biz_outbox_event WHERE event_no = 'P2'");
  database.exec("UPDATE biz_outbox_event_archive SET publish_status = 2");
  roll_up(*file.create());
  CHECK(rows_of(database, kCounts) == Rows{"1970-01-01 CREATED 0 1", "1970-01-02 CREATED 2 1"});
}

TEST_CASE("deleted rows are not counted, and times that are none fall on the first or the last day") {
  StoreFile file;
  const auto store = file.create();
  SQLite::Database database = file.other_program();
  insert_plain(database, "P1", "1747130400000000", "1");
  insert_plain(database, "P2", "1747130400000000000");  // nanoseconds
  insert_plain(database, "P3", "9223372036854775807");
  insert_plain(database, "P4", "-9223372036854775807");
  insert_plain(database, "P5", "-1");
  roll_up(*store);
  CHECK(rows_of(database, kCounts) ==
        Rows{"0000-01-01 CREATED 0 1", "1969-12-31 CREATED 0 1", "9999-12-31 CREATED 0 2"});
  CHECK(store->rollup(10) == RollupResult{});
  database.exec("UPDATE biz_outbox_event SET deleted = 1 WHERE event_no IN ('P2', 'P4')");
  roll_up(*store);
  CHECK(rows_of(database, kCounts) == Rows{"1969-12-31 CREATED 0 1", "9999-12-31 CREATED 0 1"});
}

TEST_CASE("finished events that a bounded buffer forgets stay in their day") {
  StoreFile file;
  file.options.max_bytes = 1 << 20;
  const auto store = file.create();
  int number = 0;
  const auto deliver_some = [&] {
    NewEvent event = make_event("E" + std::to_string(++number));
    event.event_payload = '"' + std::string(20'000, 'x') + '"';
    append(*store, event);
    deliver_all(*store);
  };
  for (int i = 0; i < 10; ++i) deliver_some();
  roll_up(*store);
  while (store->stats({}).purged == 0 && number < 200) deliver_some();
  REQUIRE(store->stats({}).purged > 0);
  roll_up(*store);
  const auto days = store->daily_stats({});
  REQUIRE(days.size() == 1);
  CHECK(days[0].count == static_cast<std::uint64_t>(number));
}

// --- Plans ---

Rows plan_of(SQLite::Database& database, const std::string& text) {
  SQLite::Statement query(database, "EXPLAIN QUERY PLAN " + text);
  Rows steps;
  while (query.executeStep()) steps.push_back(query.getColumn(3).getString());
  return steps;
}

TEST_CASE("a rollup scans no table of events, whatever ANALYZE says") {
  StatementTrace trace;
  StoreFile file;
  const auto store = file.create();
  append_many(*store, "E", 1000);
  for (int batch = 0; batch < 5; ++batch) {
    std::vector<Settlement> all;
    for (const Event& event : store->claim(claim_request(190)).events)
      all.push_back(settlement_of(event, Command::succeed));
    (void)store->settle(all);
  }
  roll_up(*store);
  SQLite::Database database = file.other_program();
  if (GENERATE(false, true)) database.exec("ANALYZE");
  int looked_at = 0;
  for (const std::string& text : trace.texts()) {
    for (const auto& query : {sql::sqlite::new_days, sql::sqlite::changed_days, sql::sqlite::count_day}) {
      if (!fits(text, even_space(query))) continue;
      ++looked_at;
      INFO(text);
      for (const std::string& step : plan_of(database, text)) {
        INFO(step);
        CHECK(step.find("SCAN biz_outbox_event") == std::string::npos);
      }
    }
  }
  CHECK(looked_at == 4);  // new_days has two tables
}

}  // namespace
}  // namespace waybill::test
