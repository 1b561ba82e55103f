// Servers that answer, but refuse: read-only after a failover, or full of connections.

#include <deque>

#include "mysql/mysql_fixture.hpp"
#include "mysql/proxy.hpp"

namespace waybill::test {
namespace {

constexpr const char* kDelivery = "SELECT, INSERT, UPDATE, DELETE";

/// Every writing call is refused, and nothing changes.
void check_refused(IEventRepository& store, const Event& held) {
  const NewEvent event = make_event("refused");
  const Settlement done = settlement_of(held, Command::succeed);
  CHECK(is(error_of([&] { (void)store.append({&event, 1}); }), ErrorCode::unavailable, {"read-only"}));
  CHECK(is(error_of([&] { (void)store.claim(claim_request()); }), ErrorCode::unavailable, {"read-only"}));
  CHECK(is(error_of([&] { (void)store.settle({&done, 1}); }), ErrorCode::unavailable, {"read-only"}));
  CHECK(is(error_of([&] {
             (void)store.exchange({&done, 1}, claim_request());
           }),
           ErrorCode::unavailable, {"read-only"}));
  CHECK(store.find(held.event_no)->publish_status == Status::in_progress);
}

TEST_CASE_METHOD(OnPrivateServers, "a server that becomes read-only refuses, and works on when it is not any more",
                 "[refusal]") {
  const auto store = open_mysql(user_with(kDelivery));
  const Event held = claimed(*store, "e1");
  REQUIRE(append(*store, make_event("e2")) == AppendStatus::inserted);
  {
    const GlobalSetting read_only(server, "read_only", "1");
    check_refused(*store, held);
  }
  const auto begun_read_only = [&] {
    const GlobalSetting read_only(server, server.is_mariadb() ? "tx_read_only" : "transaction_read_only", "1");
    auto opened = open_mysql(options);
    check_refused(*opened, held);
    return opened;
  }();
  // A session stays what it was: only another connection may write.
  CHECK(append(*begun_read_only, make_event("e3")) == AppendStatus::inserted);
  CHECK(settle(*store, settlement_of(held, Command::succeed)) == SettleStatus::applied);
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"e2", "e3"});
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event") == "3");
}

TEST_CASE_METHOD(OnPrivateServers, "a server that becomes read-only within a transaction: nothing of it is written",
                 "[refusal]") {
  Proxy proxy(options.port);
  MysqlOptions by_proxy = user_with(kDelivery);
  by_proxy.port = proxy.port();
  by_proxy.tls = MysqlTls::off;
  const auto store = open_mysql(by_proxy);
  const Event held = claimed(*store, "e1");
  const std::vector<NewEvent> events = make_events("new", 3);
  const std::vector<Settlement> failed{settlement_of(held, Command::fail)};
  const auto during_commit = [&](const std::function<void()>& call) {
    std::unique_ptr<GlobalSetting> read_only;
    proxy.before("COMMIT", [&] { read_only = std::make_unique<GlobalSetting>(server, "read_only", "1"); });
    CHECK(is(error_of(call), ErrorCode::unavailable, {"read-only"}));
    REQUIRE(read_only != nullptr);
  };
  during_commit([&] { (void)store->append(events); });
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event") == "1");
  during_commit([&] { (void)store->settle(failed); });
  CHECK(value("SELECT CONCAT(publish_status, retry_count) FROM biz_outbox_event") == "10");
  CHECK(store->settle(failed).front() == SettleStatus::applied);
  for (const AppendResult& result : store->append(events)) CHECK(result.status == AppendStatus::inserted);
  during_commit([&] { (void)store->claim(claim_request()); });
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event WHERE publish_status = 1") == "0");
  CHECK(store->claim(claim_request()).events.size() == 3);
}

TEST_CASE_METHOD(OnPrivateServers, "a server without a connection left: unavailable, until one is free", "[refusal]") {
  const MysqlOptions user = user_with(kDelivery);
  const auto store = open_mysql(user);
  PlainClient administrator(options);
  const std::string id =
      administrator.value("SELECT id FROM information_schema.processlist WHERE user = '" + user.user + "'");
  const GlobalSetting few(server, "max_connections", "10");
  std::deque<PlainClient> clients;
  try {
    while (clients.size() < 20) clients.emplace_back(user);
  } catch (const std::runtime_error&) {
    // Now it is full.
  }
  REQUIRE(clients.size() < 10);
  CHECK(is(error_of([&] { (void)open_mysql(user); }), ErrorCode::unavailable,
           {"127.0.0.1:" + std::to_string(user.port), "raise max_connections"}));
  deliver_one(*store, "e1");
  administrator.run("KILL " + id);
  const std::string there = "SELECT COUNT(*) FROM information_schema.processlist WHERE id = " + id;
  REQUIRE(eventually([&] { return administrator.value(there) == "0"; }));
  clients.emplace_back(user);
  CHECK(is(error_of([&] { (void)store->claim(claim_request()); }), ErrorCode::unavailable, {"raise max_connections"}));
  clients.clear();
  REQUIRE(eventually([&] { return !error_of([&] { (void)store->backlog(); }); }));
  deliver_one(*store, "e2");
}

}  // namespace
}  // namespace waybill::test
