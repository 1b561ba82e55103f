// SqliteOutbox: events in the caller's own transaction, on the caller's own connection.

#include <sqlite3.h>

#include <thread>

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

/// An order service with its own table beside ours.
class OrderService {
 protected:
  OrderService() {
    (void)file.create();
    database = std::make_unique<SQLite::Database>(file.other_program());
    database->exec("CREATE TABLE orders (number TEXT PRIMARY KEY)");
    outbox = std::make_unique<SqliteOutbox>(database->getHandle(), with_clock());
  }

  SqliteOutbox::Options with_clock() const {
    SqliteOutbox::Options options;
    options.clock = file.clock;
    return options;
  }
  void use(const SqliteOutbox::Options& options) { *outbox = SqliteOutbox(database->getHandle(), options); }
  void place(const std::string& number) { database->exec("INSERT INTO orders VALUES ('" + number + "')"); }
  std::int64_t orders() const { return number_of(*database, "SELECT count(*) FROM orders"); }
  std::int64_t events() const { return number_of(*database, "SELECT count(*) FROM biz_outbox_event"); }

  StoreFile file;
  std::unique_ptr<SQLite::Database> database;
  std::unique_ptr<SqliteOutbox> outbox;
};

TEST_CASE_METHOD(OrderService, "outbox: the order and its event commit together") {
  database->exec("BEGIN IMMEDIATE");
  place("A1");
  const AppendResult result = outbox->append(make_event("E1"));
  CHECK(result.status == AppendStatus::inserted);
  CHECK(result.id == 1);
  const auto store = file.open();
  CHECK_FALSE(store->find("E1").has_value());  // not before the commit
  CHECK(sqlite3_get_autocommit(database->getHandle()) == 0);
  database->exec("COMMIT");

  REQUIRE(store->find("E1").has_value());
  CHECK(store->find("E1")->create_time == file.clock->now());
  CHECK(deliver_all(*store) == Numbers{"E1"});
  CHECK(orders() == 1);
}

TEST_CASE_METHOD(OrderService, "outbox: a rollback takes the event along") {
  database->exec("BEGIN IMMEDIATE");
  place("A1");
  (void)outbox->append(make_event("E1"));
  database->exec("ROLLBACK");
  CHECK(orders() == 0);
  CHECK(events() == 0);

  database->exec("BEGIN IMMEDIATE");  // and its number is free again
  CHECK(outbox->append(make_event("E1")).status == AppendStatus::inserted);
  database->exec("COMMIT");
  CHECK(events() == 1);
}

TEST_CASE_METHOD(OrderService, "outbox: without a transaction nothing is appended") {
  const StorageError error = storage_error_of([&] { (void)outbox->append(make_event("E1")); });
  CHECK(error.code() == ErrorCode::invalid);
  CHECK_THAT(error.what(), Contains("no transaction") && Contains("BEGIN"));
  CHECK(events() == 0);
  CHECK(sqlite3_get_autocommit(database->getHandle()) == 1);
}

TEST_CASE_METHOD(OrderService, "outbox: a deferred transaction and a savepoint are transactions too") {
  const std::string begin = GENERATE("BEGIN", "SAVEPOINT order_1");
  const std::string end = begin == "BEGIN" ? "COMMIT" : "RELEASE order_1";
  database->exec(begin);
  place("A1");
  CHECK(outbox->append(make_event("E1")).status == AppendStatus::inserted);
  database->exec(end);
  CHECK(events() == 1);
}

TEST_CASE_METHOD(OrderService, "outbox: duplicates and conflicts leave the transaction usable") {
  NewEvent other = make_event("E1");
  other.event_payload = R"({"amount":200})";
  NewEvent same = make_event("E1");
  same.event_payload = R"( { "amount" : 199 } )";
  database->exec("BEGIN IMMEDIATE");
  (void)outbox->append(make_event("E1"));
  const std::vector<NewEvent> batch{same, other, make_event("E2")};
  const auto results = outbox->append(batch);
  place("A1");
  database->exec("COMMIT");

  REQUIRE(results.size() == 3);
  CHECK(results[0].status == AppendStatus::duplicate);
  CHECK(results[0].id == 1);
  CHECK(results[1].status == AppendStatus::conflict);
  CHECK(results[1].difference == "event_payload");
  CHECK(results[2].status == AppendStatus::inserted);
  CHECK(orders() == 1);
  CHECK(events() == 2);
  CHECK(file.open()->find("E1")->event_payload == R"({"amount":199})");
}

TEST_CASE_METHOD(OrderService, "outbox: an archived number is a duplicate") {
  const auto store = file.open();
  require_works(*store, "E1");
  file.clock->advance(1h);
  REQUIRE(store->archive(file.clock->now(), 10) == 1);
  database->exec("BEGIN IMMEDIATE");
  CHECK(outbox->append(make_event("E1")).status == AppendStatus::duplicate);
  database->exec("COMMIT");
  CHECK(events() == 0);
}

TEST_CASE_METHOD(OrderService, "outbox: an event over a limit is refused before anything is written") {
  SqliteOutbox::Options small = with_clock();
  small.limits.max_payload_bytes = 10;
  use(small);
  NewEvent big = make_event("E2");
  database->exec("BEGIN IMMEDIATE");
  place("A1");
  SECTION("payload") { CHECK_THROWS_AS(outbox->append(big), InvalidEvent); }
  SECTION("the second of a batch") {
    NewEvent good = make_event("E1");
    good.event_payload = "{}";
    const std::vector<NewEvent> batch{good, big};
    CHECK_THROWS_WITH(outbox->append(batch), Contains("E2") && Contains("event_payload") && !Contains("amount"));
  }
  SECTION("number") {
    big.event_payload = "{}";
    big.event_no = std::string(65, 'x');
    CHECK_THROWS_AS(outbox->append(big), InvalidEvent);
  }
  database->exec("COMMIT");
  CHECK(orders() == 1);  // the caller's own data could still be committed: the caller decides
  CHECK(events() == 0);
}

TEST_CASE_METHOD(OrderService, "outbox: a bounded buffer refuses or drops within the caller's transaction") {
  SqliteOutbox::Options bounded = with_clock();
  bounded.max_events = 2;
  database->exec("BEGIN IMMEDIATE");
  place("A1");
  SECTION("reject") {
    use(bounded);
    CHECK(outbox->append(make_events("E", 2)).size() == 2);
    const StorageError error = storage_error_of([&] { (void)outbox->append(make_event("E3")); });
    CHECK(error.code() == ErrorCode::full);
    CHECK_THAT(error.what(), Contains("max_events=2"));
    database->exec("ROLLBACK");
    CHECK(events() == 0);
    CHECK(orders() == 0);
  }
  SECTION("drop the oldest") {
    bounded.on_full = OnFull::drop_oldest;
    use(bounded);
    for (int i = 1; i <= 5; ++i) (void)outbox->append(make_event("E" + std::to_string(i)));
    database->exec("COMMIT");
    CHECK(rows_of(*database, "SELECT event_no FROM biz_outbox_event ORDER BY id") == Numbers{"E4", "E5"});
    CHECK(file.open()->stats({}).dropped == 3);
  }
  SECTION("drops are undone with the rest") {
    bounded.on_full = OnFull::drop_oldest;
    use(bounded);
    (void)outbox->append(make_events("E", 5));
    database->exec("ROLLBACK");
    CHECK(file.open()->stats({}).dropped == 0);
  }
}

TEST_CASE_METHOD(OrderService, "outbox: bytes are bounded in the caller's transaction") {
  SqliteOutbox::Options bounded = with_clock();
  bounded.max_bytes = 1U << 20;
  use(bounded);
  NewEvent event = make_event("E");
  event.event_payload = "\"" + std::string(1000, 'x') + "\"";
  int accepted = 0;
  const StorageError error = storage_error_of([&] {
    for (; accepted < 5000; ++accepted) {
      event.event_no = "E" + std::to_string(accepted);
      database->exec("BEGIN IMMEDIATE");
      (void)outbox->append(event);
      database->exec("COMMIT");
    }
  });
  database->exec("ROLLBACK");
  CHECK(error.code() == ErrorCode::full);
  CHECK(events() == accepted);
  CHECK(accepted > 100);
  CHECK(fs::file_size(file.path()) <= bounded.max_bytes);
}

TEST_CASE_METHOD(OrderService, "outbox: another writer's lock is busy, and the call can be repeated") {
  database->exec("PRAGMA busy_timeout = 0");
  SQLite::Database rival = file.other_program();
  rival.exec("BEGIN IMMEDIATE");
  database->exec("BEGIN");
  CHECK(code_of([&] { (void)outbox->append(make_event("E1")); }) == ErrorCode::busy);
  rival.exec("ROLLBACK");
  CHECK(outbox->append(make_event("E1")).status == AppendStatus::inserted);
  database->exec("COMMIT");
  CHECK(events() == 1);
}

TEST_CASE("outbox: a database without our tables, or with old ones, is refused") {
  StoreFile file;
  SQLite::Database database = file.other_program();
  const auto refused = [&] { return storage_error_of([&] { SqliteOutbox outbox(database.getHandle()); }); };
  CHECK(refused().code() == ErrorCode::schema);
  CHECK_THAT(refused().what(), Contains("waybill init"));
  CHECK(code_of([&] { SqliteInbox inbox(database.getHandle()); }) == ErrorCode::schema);

  (void)file.create();
  CHECK_NOTHROW(SqliteOutbox(database.getHandle()));
  database.exec("DELETE FROM waybill_schema WHERE version = (SELECT max(version) FROM waybill_schema)");
  CHECK(refused().code() == ErrorCode::schema);
  CHECK_THAT(refused().what(), Contains("waybill init"));
  database.exec("INSERT INTO waybill_schema VALUES (999, 'future', 0)");
  CHECK_THAT(refused().what(), Contains("999") && Contains("newer"));
}

TEST_CASE_METHOD(OrderService, "outbox: moved, it goes on") {
  SqliteOutbox moved(std::move(*outbox));
  database->exec("BEGIN IMMEDIATE");
  CHECK(moved.append(make_event("E1")).status == AppendStatus::inserted);
  CHECK(moved.append(std::span<const NewEvent>{}).empty());
  database->exec("COMMIT");
  CHECK(events() == 1);
}

TEST_CASE_METHOD(OrderService, "configure: WAL, full sync and no automatic checkpoints") {
  StoreFile fresh;
  SQLite::Database plain = fresh.other_program();
  SqliteOutbox::configure(plain.getHandle());
  CHECK(rows_of(plain, "PRAGMA journal_mode") == Numbers{"wal"});
  CHECK(number_of(plain, "PRAGMA synchronous") == 2);
  CHECK(number_of(plain, "PRAGMA wal_autocheckpoint") == 0);
}

TEST_CASE_METHOD(OrderService, "configure: a lock is waited for in short naps, up to the timeout") {
  using Clock = std::chrono::steady_clock;
  SQLite::Database rival = file.other_program();
  rival.exec("BEGIN IMMEDIATE");
  SECTION("as long as it was told") {
    SqliteOutbox::configure(database->getHandle(), 50ms);
    const auto begin = Clock::now();
    CHECK(database->tryExec("BEGIN IMMEDIATE") == SQLITE_BUSY);
    CHECK(Clock::now() - begin >= 50ms);
    CHECK(Clock::now() - begin < 5s);
  }
  SECTION("not at all") {
    SqliteOutbox::configure(database->getHandle(), 0ms);
    CHECK(database->tryExec("BEGIN IMMEDIATE") == SQLITE_BUSY);
  }
  SECTION("and it gets the lock once that is free") {
    SqliteOutbox::configure(database->getHandle(), 60s);
    std::thread later([&] { rival.exec("ROLLBACK"); });
    CHECK(database->tryExec("BEGIN IMMEDIATE") == SQLITE_OK);
    later.join();
  }
  SECTION("configured twice, the later one holds") {
    SqliteOutbox::configure(database->getHandle(), 60s);
    SqliteOutbox::configure(database->getHandle(), 0ms);
    CHECK(database->tryExec("BEGIN IMMEDIATE") == SQLITE_BUSY);
  }
}

}  // namespace
}  // namespace waybill::test
