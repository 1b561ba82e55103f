// Rows that somebody else has locked: deadlocks and long waits burn no attempt of an event.

#include <future>

#include "mysql/mysql_fixture.hpp"

namespace waybill::test {
namespace {

/// Another program, whose transaction has changed so much that in a deadlock the store's is rolled back.
class Collisions : protected OnSharedServers {
 protected:
  Collisions() : other(database.options()) {
    prepare_for_locks();
    other.run("START TRANSACTION");
    for (int id = 1; id <= 100; ++id) other.run("INSERT INTO shop_order VALUES (" + std::to_string(id) + ", 'x')");
  }
  [[nodiscard]] std::string deadlocks() {
    return database.value("SELECT `count` FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
  }
  void wait_until_stuck() {
    const std::string stuck =
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND command = 'Execute' AND (info "
        "LIKE "
        "'%UPDATE biz_outbox_event%' OR info LIKE '%INTO biz_outbox_event%')";
    REQUIRE(eventually([&] { return database.value(stuck) == "1"; }));
  }
  /// `call` waits for what the other program holds; then that one runs `wanted`, and is done a little later.
  template <class Call>
  auto in_deadlock(const std::string& wanted, Call call) {
    const std::string before = deadlocks();
    auto called = std::async(std::launch::async, call);
    wait_until_stuck();
    REQUIRE(other.attempt(wanted) == 0);
    CHECK(deadlocks() != before);
    wait_until_stuck();  // again, by itself
    other.run("ROLLBACK");
    return called.get();
  }

  PlainClient other;
};

TEST_CASE_METHOD(Collisions, "settle that a deadlock rolls back is repeated, and no attempt is burned", "[collision]") {
  const auto store = open();
  REQUIRE(store->append(make_events("e", 2)).size() == 2);
  std::vector<Settlement> done;
  for (const Event& event : store->claim(claim_request()).events)
    done.push_back(settlement_of(event, Command::succeed));
  REQUIRE(done.size() == 2);
  other.run("UPDATE biz_outbox_event SET remark = 'x' WHERE event_no = 'e2'");
  const auto statuses = in_deadlock("UPDATE biz_outbox_event SET remark = 'x' WHERE event_no = 'e1'",
                                    [&] { return store->settle(done); });
  CHECK(statuses == std::vector<SettleStatus>(2, SettleStatus::applied));
  CHECK(database.value("SELECT COUNT(*) FROM biz_outbox_event WHERE publish_status = 2 AND retry_count = 0 AND "
                       "version = 1") == "2");
}

std::string insert_of(const std::string& event_no) {
  return "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
         "publish_channel, event_payload) VALUES ('" +
         event_no + "', 'a', 'b', 'c', 'd', 'e', '{}')";
}

TEST_CASE_METHOD(Collisions, "append that a deadlock rolls back is repeated, and says inserted", "[collision]") {
  const auto store = open();
  NewEvent known = make_event("known");
  REQUIRE(append(*store, known) == AppendStatus::inserted);
  other.run(insert_of("z"));
  const std::vector<NewEvent> batch{make_event("a"), known, make_event("z")};
  const auto results = in_deadlock(insert_of("a"), [&] { return store->append(batch); });
  CHECK(results[0].status == AppendStatus::inserted);
  CHECK(results[1].status == AppendStatus::duplicate);
  CHECK(results[2].status == AppendStatus::inserted);
  CHECK(database.value("SELECT COUNT(*) FROM biz_outbox_event WHERE aggregate_type = 'ORDER'") == "3");
}

TEST_CASE_METHOD(Collisions, "claim passes what somebody else has locked", "[collision]") {
  const auto store = open();
  REQUIRE(store->append(make_events("e", 2)).size() == 2);
  other.run("SELECT * FROM biz_outbox_event WHERE event_no = 'e1' FOR UPDATE");
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"e2"});
  other.run("ROLLBACK");
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"e1"});
}

TEST_CASE_METHOD(Collisions, "a lock that is held too long: busy, nothing changed, and no attempt burned",
                 "[collision]") {
  MysqlOptions options = database.options();
  options.timeout = 2s;
  const auto store = open_mysql(options);
  const Event event = claimed(*store, "e1");
  const Settlement done = settlement_of(event, Command::succeed);
  other.run("SELECT * FROM biz_outbox_event WHERE event_no = 'e1' FOR UPDATE");
  other.run(insert_of("e2"));
  CHECK(is(error_of([&] { (void)store->settle({&done, 1}); }), ErrorCode::busy, {"1205", "try again"}));
  const std::vector<NewEvent> batch{make_event("a"), make_event("e2")};
  CHECK(is(error_of([&] { (void)store->append(batch); }), ErrorCode::busy, {"1205"}));
  CHECK(database.value("SELECT COUNT(*) FROM biz_outbox_event") == "1");
  other.run("ROLLBACK");
  CHECK(settle(*store, done) == SettleStatus::applied);
  CHECK(store->find("e1")->retry_count == 0);
  CHECK(store->append(batch)[1].status == AppendStatus::inserted);
}

}  // namespace
}  // namespace waybill::test
