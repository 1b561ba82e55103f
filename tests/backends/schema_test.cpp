// The tables: made, migrated, checked, and what plain SQL may do to them.

#include <map>

#include "backends/sqlite_fixture.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kSchemaTexts =
    "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";

/// What the first `version` migrations leave behind.
void make_old_store(SQLite::Database& database, std::size_t version) {
  database.exec(std::string(sql::sqlite::create_version_table));
  for (std::size_t i = 0; i < version; ++i) {
    database.exec(std::string(sql::sqlite::kSchema[i].text));
    SQLite::Statement record(database, std::string(sql::sqlite::record_migration));
    record.bind(1, static_cast<std::int64_t>(i + 1));
    record.bind(2, std::string(sql::sqlite::kSchema[i].name));
    record.bind(3, 0);
    record.exec();
  }
}

/// A row by plain SQL with only what has no default; `changes` replaces or adds columns, by SQL expressions.
void insert_plain(SQLite::Database& database, const std::map<std::string, std::string>& changes = {}) {
  std::map<std::string, std::string> values{
      {"event_no", "'P1'"},        {"aggregate_type", "'ORDER'"}, {"aggregate_id", "'1'"},  {"event_type", "'CREATED'"},
      {"event_source", "'plain'"}, {"publish_channel", "'MQ'"},   {"event_payload", "'{}'"}};
  for (const auto& [column, value] : changes) values[column] = value;
  std::string columns;
  std::string expressions;
  for (const auto& [column, value] : values) {
    columns += (columns.empty() ? "" : ", ") + column;
    expressions += (expressions.empty() ? "" : ", ") + value;
  }
  database.exec("INSERT INTO biz_outbox_event (" + columns + ") VALUES (" + expressions + ")");
}

TEST_CASE("init twice changes nothing") {
  StoreFile file;
  append(*file.create(), make_event("E1"));
  SQLite::Database database = file.other_program();
  const auto before = rows_of(database, kSchemaTexts);
  const auto versions = rows_of(database, "SELECT version || name || applied FROM waybill_schema");
  file.clock->advance(1h);
  const auto store = file.create();
  CHECK(rows_of(database, kSchemaTexts) == before);
  CHECK(rows_of(database, "SELECT version || name || applied FROM waybill_schema") == versions);
  CHECK(deliver_all(*store) == Numbers{"E1"});
}

TEST_CASE("an old store is refused with what to do, and init migrates it without losing a row") {
  const std::size_t version = GENERATE(range(std::size_t{1}, sql::sqlite::kSchema.size()));
  StoreFile file;
  SQLite::Database database = file.other_program();
  make_old_store(database, version);
  insert_plain(database);
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::read_only}) {
    const StorageError error = storage_error_of([&] { (void)file.open(mode); });
    CHECK(error.code() == ErrorCode::schema);
    CHECK_THAT(error.what(), Contains("version " + std::to_string(version)) && Contains("waybill init"));
  }
  CHECK(deliver_all(*file.create()) == Numbers{"P1"});
  CHECK(deliver_all(*file.open()).empty());
  CHECK(number_of(database, "SELECT count(*) FROM waybill_schema") ==
        static_cast<std::int64_t>(sql::sqlite::kSchema.size()));

  StoreFile fresh;
  (void)fresh.create();
  SQLite::Database other = fresh.other_program();
  CHECK(rows_of(database, kSchemaTexts) == rows_of(other, kSchemaTexts));
}

TEST_CASE("a store from the future is refused, by init too, and stays as it is") {
  StoreFile file;
  append(*file.create(), make_event("E1"));
  SQLite::Database database = file.other_program();
  database.exec("INSERT INTO waybill_schema VALUES (99, '0099_future', 0)");
  const auto before = rows_of(database, kSchemaTexts);
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::read_only, OpenMode::create}) {
    const StorageError error = storage_error_of([&] { (void)file.open(mode); });
    CHECK(error.code() == ErrorCode::schema);
    CHECK_THAT(error.what(), Contains("99") && Contains("newer waybill"));
  }
  CHECK(rows_of(database, kSchemaTexts) == before);
  CHECK(number_of(database, "SELECT count(*) FROM biz_outbox_event") == 1);
}

TEST_CASE("a database without our tables is refused with the command that makes them") {
  StoreFile file;
  SQLite::Database database = file.other_program();
  database.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
  database.exec("INSERT INTO orders VALUES (7)");
  const StorageError error = storage_error_of([&] { (void)file.open(); });
  CHECK(error.code() == ErrorCode::schema);
  CHECK_THAT(error.what(), Contains("store.db") && Contains("waybill init"));
  require_works(*file.create(), "E1");  // beside the tables of a program
  CHECK(number_of(database, "SELECT id FROM orders") == 7);
}

TEST_CASE("a half migrated step is undone: the next init finds the store as it was") {
  StoreFile file;
  SQLite::Database database = file.other_program();
  make_old_store(database, 1);
  database.exec("CREATE TABLE biz_event_inbox (consumer TEXT)");  // in the way of a later step
  CHECK(code_of([&] { (void)file.create(); }) == ErrorCode::schema);
  CHECK(number_of(database, "SELECT max(version) FROM waybill_schema") == 1);
  database.exec("DROP TABLE biz_event_inbox");
  require_works(*file.create(), "E1");
}

TEST_CASE("the printed schema makes the same tables as init") {
  const bool full = GENERATE(false, true);
  StoreFile printed;
  printed.options.full_indexes = full;
  SQLite::Database plain = printed.other_program();
  plain.exec(sqlite_schema_sql(full_schema(full)));
  StoreFile made;
  made.options.full_indexes = full;
  (void)made.create();
  SQLite::Database other = made.other_program();

  CHECK(rows_of(plain, kSchemaTexts) == rows_of(other, kSchemaTexts));
  for (const std::string pragma : {"PRAGMA auto_vacuum", "PRAGMA journal_mode", "PRAGMA page_size"})
    CHECK(rows_of(plain, pragma) == rows_of(other, pragma));
  CHECK(rows_of(plain, "SELECT version || name FROM waybill_schema") ==
        rows_of(other, "SELECT version || name FROM waybill_schema"));
  CHECK(number_of(plain, "SELECT min(applied) FROM waybill_schema") > 1'600'000'000'000'000);  // microseconds
  require_works(*printed.open(), "E1");
}

TEST_CASE("indexes: the seed's whole set only when asked for, also later") {
  StoreFile file;
  (void)file.create();
  SQLite::Database database = file.other_program();
  const std::string seeds =
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND name IN ('idx_aggregate', 'idx_event_type_create_time', "
      "'idx_topic_create_time', 'idx_trace_id', 'idx_create_time') ORDER BY name";
  CHECK(rows_of(database, seeds).empty());
  file.options.full_indexes = true;
  (void)file.create();
  CHECK(rows_of(database, seeds).size() == 5);
  require_works(*file.open(), "E1");
}

TEST_CASE("a row by plain SQL with only the required columns gets the defaults and is delivered") {
  StoreFile file;
  file.options.clock = nullptr;  // the row's times are the machine's
  const auto store = file.create();
  const Timestamp before = SystemClock{}.now();
  SQLite::Database database = file.other_program();
  insert_plain(database);
  const std::optional<Event> event = store->find("P1");
  REQUIRE(event.has_value());
  CHECK(event->publish_status == Status::pending);
  CHECK(event->event_version == 1);
  CHECK(event->retry_count == 0);
  CHECK(event->max_retry_count == 5);
  CHECK(event->version == 0);
  CHECK_FALSE(event->deleted);
  CHECK_FALSE(event->next_retry_time.has_value());
  CHECK(event->create_time == event->update_time);
  CHECK(event->create_time > before - 10s);
  CHECK(event->create_time < SystemClock{}.now() + 10s);
  CHECK(deliver_all(*store) == Numbers{"P1"});
}

TEST_CASE("plain SQL can't get in what the rules forbid") {
  StoreFile file;
  (void)file.create();
  SQLite::Database database = file.other_program();
  const auto refused = [&](const std::map<std::string, std::string>& changes) {
    INFO(changes.begin()->first << " = " << changes.begin()->second);
    CHECK_THROWS_AS(insert_plain(database, changes), SQLite::Exception);
  };
  const auto text_of = [](std::size_t length) { return "'" + std::string(length, 'x') + "'"; };
  for (const char* payload : {"'{'", "''", "NULL", "'{\"a\":}'", "'text'"}) refused({{"event_payload", payload}});
  for (const char* headers : {"'[]'", "'1'", "'\"x\"'", "'{'", "'null'"}) refused({{"event_headers", headers}});
  for (const char* column : {"next_retry_time", "lock_until", "create_time", "update_time"}) {
    refused({{column, "'2026-05-13 10:00:00'"}});
    refused({{column, "1.5"}});
  }
  refused({{"create_time", "NULL"}});
  for (const char* column : {"event_no", "aggregate_type", "aggregate_id", "event_type", "event_source"}) {
    refused({{column, text_of(65)}});
    refused({{column, "''"}});
    refused({{column, "NULL"}});
  }
  refused({{"publish_channel", text_of(33)}});
  for (const char* column : {"topic", "routing_key", "trace_id"}) refused({{column, text_of(129)}});
  refused({{"remark", text_of(501)}});
  for (const char* status : {"5", "-1", "'pending'"}) refused({{"publish_status", status}});
  CHECK(number_of(database, "SELECT count(*) FROM biz_outbox_event") == 0);
}

TEST_CASE("plain SQL may use every column to its full width, in characters") {
  StoreFile file;
  const auto store = file.create();
  SQLite::Database database = file.other_program();
  std::string wide;
  for (int i = 0; i < 64; ++i) wide += "事";
  insert_plain(database, {{"event_no", "'" + wide + "'"},
                          {"topic", "'" + std::string(128, 't') + "'"},
                          {"event_headers", R"('{"tenantId":"default"}')"},
                          {"event_payload", "json_object('orderId', 100000000000000001)"},
                          {"next_retry_time", "NULL"}});
  const std::optional<Event> event = store->find(wide);
  REQUIRE(event.has_value());
  CHECK(event->event_payload == R"({"orderId":100000000000000001})");
  CHECK(deliver_all(*store) == Numbers{wide});
}

TEST_CASE("an event number is taken once, ids are never given twice") {
  StoreFile file;
  const auto store = file.create();
  SQLite::Database database = file.other_program();
  insert_plain(database);
  CHECK_THROWS_AS(insert_plain(database), SQLite::Exception);
  const std::int64_t first = store->find("P1")->id;
  deliver_all(*store);
  file.clock->advance(1h);
  REQUIRE(store->purge(file.clock->now(), 10) == 1);
  CHECK(append(*store, make_event("E2")).id > first);
}

}  // namespace
}  // namespace waybill::test
