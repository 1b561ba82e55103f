// SqliteInbox: an event's effect and the note that it was done, in one transaction of the consumer.

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

class Consumer {
 protected:
  Consumer() {
    (void)file.create();
    database = std::make_unique<SQLite::Database>(file.other_program());
    database->exec("CREATE TABLE stock (booked INTEGER)");
    inbox = std::make_unique<SqliteInbox>(database->getHandle(), file.clock);
  }

  /// One delivery: books once for each event that is new to `consumer`.
  bool consume(const std::string& consumer, const std::string& event_no, const std::string& end = "COMMIT") {
    database->exec("BEGIN IMMEDIATE");
    const bool first = inbox->consume_once(consumer, event_no);
    if (first) database->exec("INSERT INTO stock VALUES (1)");
    database->exec(end);
    return first;
  }
  std::int64_t booked() const { return number_of(*database, "SELECT count(*) FROM stock"); }
  std::int64_t remembered() const { return number_of(*database, "SELECT count(*) FROM biz_event_inbox"); }

  StoreFile file;
  std::unique_ptr<SQLite::Database> database;
  std::unique_ptr<SqliteInbox> inbox;
};

TEST_CASE_METHOD(Consumer, "inbox: an event that comes twice has its effect once") {
  CHECK(consume("stock", "E1"));
  CHECK_FALSE(consume("stock", "E1"));
  CHECK(consume("stock", "E2"));
  CHECK(booked() == 2);
}

TEST_CASE_METHOD(Consumer, "inbox: each consumer sees the event once") {
  CHECK(consume("stock", "E1"));
  CHECK(consume("invoice", "E1"));
  CHECK_FALSE(consume("invoice", "E1"));
}

TEST_CASE_METHOD(Consumer, "inbox: a rollback forgets") {
  CHECK(consume("stock", "E1", "ROLLBACK"));
  CHECK(booked() == 0);
  CHECK(consume("stock", "E1"));
  CHECK(booked() == 1);
}

TEST_CASE_METHOD(Consumer, "inbox: it is remembered across connections") {
  CHECK(consume("stock", "E1"));
  SQLite::Database again = file.other_program();
  SqliteInbox other(again.getHandle());
  again.exec("BEGIN");
  CHECK_FALSE(other.consume_once("stock", "E1"));
  again.exec("COMMIT");
}

TEST_CASE_METHOD(Consumer, "inbox: without a transaction the work would be apart from the note") {
  CHECK(code_of([&] { (void)inbox->consume_once("stock", "E1"); }) == ErrorCode::invalid);
  CHECK(remembered() == 0);
}

TEST_CASE_METHOD(Consumer, "inbox: names that are empty or too long are refused") {
  database->exec("BEGIN IMMEDIATE");
  CHECK(code_of([&] { (void)inbox->consume_once("", "E1"); }) == ErrorCode::invalid);
  CHECK(code_of([&] { (void)inbox->consume_once("stock", std::string(65, 'x')); }) == ErrorCode::invalid);
  CHECK(inbox->consume_once("stock", std::string(64, 'x')));
  database->exec("COMMIT");
  CHECK(remembered() == 1);
}

TEST_CASE_METHOD(Consumer, "inbox: old entries are forgotten in batches, oldest first") {
  const Timestamp begin = file.clock->now();
  for (int i = 1; i <= 5; ++i) {
    consume("stock", "E" + std::to_string(i));
    file.clock->advance(1h);
  }
  CHECK(inbox->forget(begin, 10) == 0);
  CHECK(inbox->forget(begin + 4h, 3) == 3);  // E1 to E4 are older than that
  CHECK(rows_of(*database, "SELECT event_no FROM biz_event_inbox ORDER BY 1") == Numbers{"E4", "E5"});
  CHECK(inbox->forget(begin + 4h, 3) == 1);
  CHECK(inbox->forget(begin + 4h, 3) == 0);
  CHECK_FALSE(consume("stock", "E5"));
  CHECK(consume("stock", "E1"));
}

TEST_CASE_METHOD(Consumer, "inbox: what a delivery needs at once: event in, effect and next event out, one commit") {
  SqliteOutbox outbox(database->getHandle());
  database->exec("BEGIN IMMEDIATE");
  REQUIRE(inbox->consume_once("stock", "E1"));
  database->exec("INSERT INTO stock VALUES (1)");
  (void)outbox.append(make_event("BOOKED:E1"));
  database->exec("COMMIT");
  CHECK(deliver_all(*file.open()) == Numbers{"BOOKED:E1"});
}

}  // namespace
}  // namespace waybill::test
