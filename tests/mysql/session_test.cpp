// What holds on the store's connections, whatever the server's defaults are.

#include "mysql/mysql_fixture.hpp"

namespace waybill::test {
namespace {

TEST_CASE_METHOD(OnPrivateServers, "sessions are READ COMMITTED, in UTC and strict, against the server's defaults",
                 "[session]") {
  REQUIRE(value("SELECT @@GLOBAL.time_zone") == "+03:00");
  const GlobalSetting mode(server, "sql_mode", "ANSI_QUOTES");
  const std::string isolation = server.is_mariadb() ? "tx_isolation" : "transaction_isolation";
  const GlobalSetting serializable(server, isolation, "SERIALIZABLE");
  value("CREATE TABLE seen (isolation VARCHAR(64), time_zone VARCHAR(64), autocommit INT)");
  value(
      "CREATE TRIGGER look AFTER INSERT ON biz_outbox_event FOR EACH ROW "
      "INSERT INTO seen VALUES (@@SESSION." +
      isolation + ", @@SESSION.time_zone, @@SESSION.autocommit)");
  const auto store = open();
  REQUIRE(append(*store, make_event("e1")) == AppendStatus::inserted);
  CHECK(value("SELECT CONCAT_WS(' ', isolation, time_zone, autocommit) FROM seen") == "READ-COMMITTED +00:00 1");
  // What is too long is refused, not cut.
  CHECK(is(error_of([&] { store->set_note(std::string(65, 'n'), "value"); }), ErrorCode::invalid, {"1406"}));
}

TEST_CASE_METHOD(OnPrivateServers, "leases and due times follow the server's clock, not this machine's", "[session]") {
  const MysqlOptions user = user_with("SELECT, INSERT, UPDATE, DELETE");
  const GlobalSetting past(server, "init_connect", "SET timestamp = 1700000000");  // 2023-11-14 22:13:20 UTC
  const auto store = open_mysql(user);
  const Timestamp now = parse_time("2023-11-14T22:13:20Z").value();
  CHECK(store->now() - now < 5s);
  CHECK(store->now() >= now);
  NewEvent later = make_event("later");
  later.next_retry_time = now + 1h;
  REQUIRE(append(*store, later) == AppendStatus::inserted);
  const Event event = claimed(*store, "e1");
  CHECK(event.lock_until == now + 30s);
  CHECK(value("SELECT lock_until FROM biz_outbox_event WHERE event_no = 'e1'") == "2023-11-14 22:13:50.000000");
  CHECK(event.create_time == now);
  CHECK(store->claim(claim_request()).next_due == later.next_retry_time);
}

TEST_CASE_METHOD(OnSharedServers, "a lease ends so long after the server's UTC, though its zone is another",
                 "[session]") {
  const auto store = open();
  (void)claimed(*store, "e1");
  CHECK(database.value("SELECT ABS(TIMESTAMPDIFF(MICROSECOND, lock_until, UTC_TIMESTAMP(6) + INTERVAL 30 SECOND)) < "
                       "20000000 FROM biz_outbox_event") == "1");
}

TEST_CASE_METHOD(OnSharedServers, "event numbers that differ in case or in a blank at the end are different",
                 "[session]") {
  const auto store = open();
  const std::vector<NewEvent> events{make_event("a"), make_event("A"), make_event("a ")};
  for (const AppendResult& result : store->append(events)) CHECK(result.status == AppendStatus::inserted);
  for (const NewEvent& event : events) {
    CHECK(store->find(event.event_no)->aggregate_id == event.aggregate_id);
    CHECK(append(*store, event) == AppendStatus::duplicate);
  }
  EventFilter filter;
  filter.event_no = "a";
  CHECK(store->query(filter, Page{}).size() == 1);
  CHECK(store->cancel(filter, "not wanted", 10) == 1);
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"A", "a "});
  CHECK_FALSE(store->find("a  ").has_value());
}

}  // namespace
}  // namespace waybill::test
