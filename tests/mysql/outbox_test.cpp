// MysqlOutbox and MysqlInbox in the transaction of a program of its own.

#include <future>

#include "mysql/mysql_fixture.hpp"
#include "waybill/backends/mysql_outbox.hpp"

namespace waybill::test {
namespace {

class OutboxCalls : protected OnSharedServers {
 protected:
  OutboxCalls() : program(database.options()), outbox(program.handle()) { prepare_for_locks(); }
  [[nodiscard]] std::string events() { return database.value("SELECT COUNT(*) FROM biz_outbox_event"); }
  [[nodiscard]] std::string orders() { return database.value("SELECT COUNT(*) FROM shop_order"); }

  /// The program's transaction holds order 1 and wants `then`, for which it waits; another one, which has done more,
  /// wants order 1: of the two the program's is rolled back.
  template <class Then>
  auto in_deadlock(const std::string& held_by_other, Then then) {
    program.run("REPLACE INTO shop_order VALUES (1, 'x')");
    PlainClient other(database.options());
    other.run("START TRANSACTION");
    for (int id = 100; id < 200; ++id) other.run("INSERT INTO shop_order VALUES (" + std::to_string(id) + ", 'y')");
    other.run(held_by_other);
    program.run("START TRANSACTION");
    program.run("UPDATE shop_order SET note = 'program' WHERE id = 1");
    auto waiting = std::async(std::launch::async, [&] {
      (void)eventually([&] { return is_stuck(); });
      return other.attempt("UPDATE shop_order SET note = 'other' WHERE id = 1");
    });
    auto result = then();
    REQUIRE(waiting.get() == 0);
    other.run("ROLLBACK");
    return result;
  }

  PlainClient program;
  MysqlOutbox outbox;

 private:
  bool is_stuck() {
    return database.value("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                          std::to_string(mysql_thread_id(program.handle())) + " AND command <> 'Sleep'") == "1";
  }
};

constexpr const char* kForeignEvent =
    "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, publish_channel, "
    "event_payload) VALUES ('taken', 'a', 'b', 'c', 'd', 'e', '{}')";

TEST_CASE_METHOD(OutboxCalls, "an event and the caller's row commit together and roll back together", "[outbox]") {
  program.run("START TRANSACTION");
  program.run("INSERT INTO shop_order VALUES (1, 'one')");
  CHECK(outbox.append(make_event("e1")).status == AppendStatus::inserted);
  CHECK(events() == "0");
  program.run("ROLLBACK");
  outbox.rolled_back();
  CHECK(events() == "0");
  CHECK(orders() == "0");
  program.run("START TRANSACTION");
  program.run("INSERT INTO shop_order VALUES (1, 'one')");
  const std::vector<AppendResult> results = outbox.append(make_events("e", 300));
  program.run("COMMIT");
  CHECK(results.size() == 300);
  CHECK(std::to_string(results.back().id) == database.value("SELECT id FROM biz_outbox_event WHERE event_no = 'e300'"));
  CHECK(events() == "300");
  CHECK(orders() == "1");
}

TEST_CASE_METHOD(OutboxCalls, "a duplicate and a conflict leave the caller's transaction usable", "[outbox]") {
  NewEvent conflict = make_event("c");
  REQUIRE(append(*open(), make_event("d")) == AppendStatus::inserted);
  REQUIRE(append(*open(), conflict) == AppendStatus::inserted);
  conflict.event_payload = "{}";
  program.run("START TRANSACTION");
  program.run("INSERT INTO shop_order VALUES (1, 'one')");
  CHECK(outbox.append(make_event("d")).status == AppendStatus::duplicate);
  CHECK(outbox.append(conflict).status == AppendStatus::conflict);
  CHECK(outbox.append(make_event("e")).status == AppendStatus::inserted);
  program.run("COMMIT");
  CHECK(events() == "3");
  CHECK(orders() == "1");
}

TEST_CASE_METHOD(OutboxCalls, "a number that came after the caller's snapshot is a duplicate all the same",
                 "[outbox]") {
  program.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  program.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  const NewEvent event = make_event("e1");
  REQUIRE(append(*open(), event) == AppendStatus::inserted);
  CHECK(program.value("SELECT COUNT(*) FROM biz_outbox_event") == "0");
  const auto results = outbox.append(std::vector<NewEvent>{event, make_event("e2"), event});
  CHECK(results[0].status == AppendStatus::duplicate);
  CHECK(results[1].status == AppendStatus::inserted);
  CHECK(results[2].status == AppendStatus::duplicate);
  CHECK(results[2].id == results[0].id);
  program.run("COMMIT");
  CHECK(events() == "2");
}

TEST_CASE_METHOD(OutboxCalls, "outside a transaction nothing is appended or consumed", "[outbox]") {
  MysqlInbox inbox(program.handle());
  CHECK(is(error_of([&] { (void)outbox.append(make_event("e1")); }), ErrorCode::invalid, {"START TRANSACTION"}));
  CHECK(is(error_of([&] { (void)inbox.consume_once("mail", "e1"); }), ErrorCode::invalid, {"START TRANSACTION"}));
  program.run("SET autocommit = 0");
  CHECK(outbox.append(make_event("e2")).status == AppendStatus::inserted);
  CHECK(inbox.consume_once("mail", "e2"));
  program.run("COMMIT");
  CHECK(events() == "1");
  CHECK(database.value("SELECT COUNT(*) FROM biz_event_inbox") == "1");
}

TEST_CASE_METHOD(OutboxCalls, "after a deadlock in append nothing is appended until the caller has rolled back",
                 "[outbox]") {
  const auto error =
      in_deadlock(kForeignEvent, [&] { return error_of([&] { (void)outbox.append(make_event("taken")); }); });
  CHECK(is(error, ErrorCode::busy, {"1213"}));
  CHECK(is(error_of([&] { (void)outbox.append(make_event("e1")); }), ErrorCode::invalid, {"rolled_back()"}));
  program.run("COMMIT");
  CHECK(is(error_of([&] { (void)outbox.append(make_event("e1")); }), ErrorCode::invalid, {"rolled_back()"}));
  CHECK(events() == "0");
  CHECK(database.value("SELECT note FROM shop_order WHERE id = 1") == "x");
  program.run("ROLLBACK");
  outbox.rolled_back();
  program.run("START TRANSACTION");
  CHECK(outbox.append(make_event("e1")).status == AppendStatus::inserted);
  program.run("COMMIT");
  CHECK(events() == "1");
}

TEST_CASE_METHOD(OutboxCalls, "after a deadlock in a statement of the caller's nothing is appended or consumed",
                 "[outbox]") {
  MysqlInbox inbox(program.handle());
  const unsigned number = in_deadlock("INSERT INTO shop_order VALUES (2, 'z')",
                                      [&] { return program.attempt("INSERT INTO shop_order VALUES (2, 'p')"); });
  REQUIRE(number == 1213);
  CHECK(is(error_of([&] { (void)inbox.consume_once("mail", "e1"); }), ErrorCode::invalid));
  CHECK(is(error_of([&] { (void)outbox.append(make_event("e1")); }), ErrorCode::invalid));
  program.run("COMMIT");
  CHECK(events() == "0");
  CHECK(database.value("SELECT COUNT(*) FROM biz_event_inbox") == "0");
}

TEST_CASE_METHOD(OutboxCalls, "a refused append leaves nothing of its batch in the caller's transaction", "[outbox]") {
  program.run("SET innodb_lock_wait_timeout = 1");
  PlainClient other(database.options());
  other.run("START TRANSACTION");
  other.run(kForeignEvent);
  std::vector<NewEvent> batch = make_events("e", 200);  // more than one INSERT
  batch.push_back(make_event("taken"));
  program.run("START TRANSACTION");
  program.run("INSERT INTO shop_order VALUES (1, 'one')");
  CHECK(outbox.append(make_event("before")).status == AppendStatus::inserted);
  CHECK(is(error_of([&] { (void)outbox.append(batch); }), ErrorCode::busy, {"1205"}));
  CHECK(outbox.append(make_event("after")).status == AppendStatus::inserted);
  program.run("COMMIT");
  other.run("ROLLBACK");
  CHECK(database.value("SELECT GROUP_CONCAT(event_no ORDER BY id) FROM biz_outbox_event") == "before,after");
  CHECK(orders() == "1");
}

TEST_CASE_METHOD(OutboxCalls, "a connection whose answers count found rows serves as well", "[outbox]") {
  PlainClient finder(database.options(), PlainOptions{CLIENT_FOUND_ROWS});
  MysqlOutbox finding(finder.handle());
  MysqlInbox inbox(finder.handle());
  finder.run("START TRANSACTION");
  CHECK(finding.append(make_event("e1")).status == AppendStatus::inserted);
  CHECK(finding.append(make_event("e1")).status == AppendStatus::duplicate);
  CHECK(inbox.consume_once("mail", "e1"));
  CHECK_FALSE(inbox.consume_once("mail", "e1"));
  finder.run("COMMIT");
  CHECK(events() == "1");
}

TEST_CASE_METHOD(OutboxCalls, "a connection that can't carry every character is refused", "[outbox]") {
  PlainClient latin(database.options(), PlainOptions{0, "latin1"});
  CHECK(is(error_of([&] { MysqlOutbox{latin.handle()}; }), ErrorCode::invalid, {"latin1", "utf8mb4"}));
  CHECK(is(error_of([&] { MysqlInbox{latin.handle()}; }), ErrorCode::invalid, {"latin1", "utf8mb4"}));
}

TEST_CASE_METHOD(OutboxCalls, "characters beyond the basic plane survive in every text", "[outbox]") {
  const std::string emoji = "\U0001F69A\U0001F4E6";
  NewEvent event = make_event("e-" + emoji);
  event.aggregate_id = emoji;
  event.event_payload = "\"" + emoji + "\"";
  event.event_headers = "{\"h\": \"" + emoji + "\"}";
  program.run("START TRANSACTION");
  REQUIRE(outbox.append(event).status == AppendStatus::inserted);
  program.run("COMMIT");
  const auto store = open();
  const Event taken = store->claim(claim_request()).events.at(0);
  CHECK(taken.aggregate_id == emoji);
  CHECK(taken.event_payload == event.event_payload);
  CHECK(content_difference(taken, event).empty());
  Settlement failed = settlement_of(taken, Command::fail);
  failed.reason = "lorry: " + emoji;
  REQUIRE(settle(*store, failed) == SettleStatus::applied);
  CHECK(store->find(event.event_no)->fail_reason == failed.reason);
  CHECK(database.value("SELECT HEX(aggregate_id) FROM biz_outbox_event") == "F09F9A9AF09F93A6");
}

TEST_CASE_METHOD(OutboxCalls, "consume_once commits and rolls back with the caller", "[outbox]") {
  MysqlInbox inbox(program.handle());
  program.run("START TRANSACTION");
  program.run("INSERT INTO shop_order VALUES (1, 'one')");
  CHECK(inbox.consume_once("mail", "e1"));
  program.run("ROLLBACK");
  CHECK(database.value("SELECT COUNT(*) FROM biz_event_inbox") == "0");
  program.run("START TRANSACTION");
  program.run("INSERT INTO shop_order VALUES (1, 'one')");
  CHECK(inbox.consume_once("mail", "e1"));
  CHECK(inbox.consume_once("stock", "e1"));
  CHECK(inbox.consume_once("mail", "E1"));
  program.run("COMMIT");
  program.run("START TRANSACTION");
  CHECK_FALSE(inbox.consume_once("mail", "e1"));
  program.run("INSERT INTO shop_order VALUES (2, 'two')");
  program.run("COMMIT");
  CHECK(orders() == "2");
  CHECK(database.value("SELECT COUNT(*) FROM biz_event_inbox") == "3");
}

}  // namespace
}  // namespace waybill::test
