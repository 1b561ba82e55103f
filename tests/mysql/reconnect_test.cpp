// Connections that end: the store opens another one by itself, and nothing is lost or settled twice.

#include <functional>
#include <future>

#include "mysql/mysql_fixture.hpp"

namespace waybill::test {
namespace {

/// Calls of every kind, each of which works on a connection that is gone.
void use_in_every_way(IEventRepository& store, const std::function<void()>& cut) {
  cut();
  REQUIRE(append(store, make_event("e1")) == AppendStatus::inserted);
  cut();
  const std::vector<Event> events = store.claim(claim_request()).events;
  REQUIRE(numbers_of(events) == Numbers{"e1"});
  cut();
  REQUIRE(store.extend(std::vector<Token>{token_of(events.front())}, 1min).front() == SettleStatus::applied);
  cut();
  const std::vector<Settlement> done{settlement_of(events.front(), Command::succeed)};
  REQUIRE(append(store, make_event("e2")) == AppendStatus::inserted);
  cut();
  const ExchangeResult result = store.exchange(done, claim_request());
  REQUIRE(result.settled.front() == SettleStatus::applied);
  REQUIRE(numbers_of(result.claimed.events) == Numbers{"e2"});
  cut();
  REQUIRE(store.settle(done).front() == SettleStatus::fenced);
  cut();
  REQUIRE(store.find("e1")->publish_status == Status::succeeded);
  cut();
  (void)store.now();
  cut();
  REQUIRE(store.expired(1).empty());
  cut();
  store.set_note("a", "b");
  cut();
  REQUIRE(store.note("a") == "b");
  cut();
  (void)store.wait_for_work(1ms);
}

TEST_CASE_METHOD(OnSharedServers, "a connection that was killed is opened again, whatever the call", "[reconnect]") {
  const auto store = open();
  const std::string newest = "SELECT MAX(id) FROM information_schema.processlist WHERE db = DATABASE()";
  use_in_every_way(*store, [&] {
    const std::string id = database.value(newest);
    database.run("KILL " + id);
    REQUIRE(eventually([&] { return database.value(newest) != id; }));
  });
}

TEST_CASE_METHOD(OnPrivateServers, "connections that the server closes for idleness are opened again", "[reconnect]") {
  const std::string others =
      "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()";
  const GlobalSetting wait_timeout(server, "wait_timeout", "1");
  const auto store = open();
  deliver_one(*store, "e1");
  REQUIRE(value(others) == "1");
  REQUIRE(eventually([&] { return value(others) == "0"; }));
  deliver_one(*store, "e2");
}

/// Kills the connection whose statement is stuck. (By the process list: InnoDB's tables stand still while one polls.)
void kill_stuck(const MysqlOptions& options) {
  const std::string stuck =
      "SELECT MAX(id) FROM information_schema.processlist WHERE db = '" + options.database +
      "' AND command = 'Execute' AND (info LIKE '%UPDATE biz_outbox_event%' OR info LIKE '%INTO biz_outbox_event%')";
  std::string id;
  REQUIRE(eventually([&] { return !(id = value_of(options, stuck)).empty(); }));
  value_of(options, "KILL " + id);
  REQUIRE(eventually([&] { return value_of(options, stuck) != id; }));
}

TEST_CASE_METHOD(OnSharedServers, "a connection killed in the middle of a statement: the call is done once",
                 "[reconnect]") {
  prepare_for_locks();
  const auto store = open();
  const Event event = claimed(*store, "e1");
  PlainClient other(database.options());
  other.run("START TRANSACTION");
  other.run("SELECT * FROM biz_outbox_event WHERE event_no = 'e1' FOR UPDATE");
  Settlement failed = settlement_of(event, Command::fail);
  failed.reason = "refused";
  auto settled = std::async(std::launch::async, [&] { return store->settle({&failed, 1}).front(); });
  kill_stuck(database.options());
  other.run("ROLLBACK");
  CHECK(settled.get() == SettleStatus::applied);
  CHECK(store->find("e1")->retry_count == 1);

  other.run("START TRANSACTION");
  other.run(
      "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
      "publish_channel, event_payload) VALUES ('e2', 'a', 'b', 'c', 'd', 'e', '{}')");
  const NewEvent second = make_event("e2");
  auto appended = std::async(std::launch::async, [&] { return store->append({&second, 1}).front(); });
  kill_stuck(database.options());
  other.run("ROLLBACK");
  CHECK(appended.get().status == AppendStatus::inserted);
  CHECK(database.value("SELECT COUNT(*) FROM biz_outbox_event") == "2");
}

TEST_CASE_METHOD(OnPrivateServers, "a server that was restarted, orderly or not: the store works on", "[reconnect]") {
  const auto store = open();
  const Event first = claimed(*store, "e1");
  server.stop();
  server.start();
  CHECK(settle(*store, settlement_of(first, Command::succeed)) == SettleStatus::applied);
  const Event second = claimed(*store, "e2");
  server.kill();
  CHECK(is(error_of([&] { (void)store->claim(claim_request()); }), ErrorCode::unavailable,
           {"127.0.0.1:" + std::to_string(options.port), "check that it runs"}));
  CHECK(is(error_of([&] { (void)store->append(make_events("lost", 1)); }), ErrorCode::unavailable));
  server.start();
  CHECK(store->find("e1")->publish_status == Status::succeeded);
  CHECK(settle(*store, settlement_of(second, Command::succeed)) == SettleStatus::applied);
  CHECK(settle(*store, settlement_of(second, Command::succeed)) == SettleStatus::fenced);
  deliver_one(*store, "e3");
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event WHERE publish_status = 2 AND version = 1") == "3");
}

}  // namespace
}  // namespace waybill::test
