// The seed's own queries and writes ("Outbox事件表模型") run on our tables, word for word but for NOW() and times:
// these are whole microseconds here. Programs and dashboards that know the seed's table know ours.

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

/// A store with one event in each state, by names that say it.
class SeedTable {
 protected:
  SeedTable() {
    store = file.create();
    database = std::make_unique<SQLite::Database>(file.other_program());
    add("succeeded", Command::succeed, std::nullopt);
    add("dead", Command::reject, std::nullopt);
    add("due", Command::fail, now() + 1min);
    add("later", Command::fail, now() + 3h);
    file.clock->advance(1h);
    append(*store, make_event("expired"));
    ClaimRequest only_new = claim_request();
    only_new.retry_percent = 0;
    only_new.limit = 1;
    only_new.lease = 1min;
    REQUIRE(numbers_of(store->claim(only_new).events) == Numbers{"expired"});
    file.clock->advance(1h);
    append(*store, make_event("pending-1"));
    append(*store, make_event("pending-2"));
    append(*store, make_event("cancelled"));
    EventFilter filter;
    filter.event_no = "cancelled";
    REQUIRE(store->cancel(filter, "not wanted", 1) == 1);
  }

  [[nodiscard]] Timestamp now() const { return file.clock->now(); }

  void add(const std::string& event_no, Command command, std::optional<Timestamp> next) {
    append(*store, make_event(event_no));
    const auto claimed = store->claim(claim_request());
    REQUIRE(numbers_of(claimed.events) == Numbers{event_no});
    Settlement settlement = settlement_of(claimed.events.front(), command);
    settlement.next_retry_time = next;
    settlement.reason = "refused";
    REQUIRE(settle(*store, settlement) == SettleStatus::applied);
  }

  /// NOW() as a number, and the first column of what the query gives.
  std::vector<std::string> ask(std::string sql) {
    for (std::size_t at = sql.find("NOW()"); at != std::string::npos; at = sql.find("NOW()"))
      sql.replace(at, 5, std::to_string(now().time_since_epoch().count()));
    return rows_of(*database, sql);
  }
  int write(std::string sql) {
    for (std::size_t at = sql.find("NOW()"); at != std::string::npos; at = sql.find("NOW()"))
      sql.replace(at, 5, std::to_string(now().time_since_epoch().count()));
    return database->exec(sql);
  }

  StoreFile file;
  std::unique_ptr<IEventRepository> store;
  std::unique_ptr<SQLite::Database> database;
};

TEST_CASE_METHOD(SeedTable, "seed: pending events") {
  CHECK(ask(R"(
SELECT event_no, id, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel, topic,
    routing_key, event_payload, event_headers, retry_count, max_retry_count, trace_id, create_time
FROM biz_outbox_event
WHERE deleted = 0
  AND publish_status = 0
ORDER BY create_time ASC
LIMIT 100)") == Numbers{"pending-1", "pending-2"});
}

TEST_CASE_METHOD(SeedTable, "seed: due retries") {
  CHECK(ask(R"(
SELECT event_no, id, aggregate_type, aggregate_id, event_type, publish_channel, topic, routing_key, event_payload,
    retry_count, max_retry_count, next_retry_time, fail_reason
FROM biz_outbox_event
WHERE deleted = 0
  AND publish_status = 3
  AND retry_count < max_retry_count
  AND next_retry_time <= NOW()
ORDER BY next_retry_time ASC
LIMIT 100)") == Numbers{"due"});
}

TEST_CASE_METHOD(SeedTable, "seed: leases that ran out") {
  CHECK(ask(R"(
SELECT event_no, id, aggregate_type, aggregate_id, event_type, publish_status, locked_by, lock_until, last_publish_time,
    retry_count, fail_reason
FROM biz_outbox_event
WHERE deleted = 0
  AND publish_status = 1
  AND lock_until <= NOW()
ORDER BY lock_until ASC
LIMIT 100)") == Numbers{"expired"});
}

TEST_CASE_METHOD(SeedTable, "seed: an aggregate's events") {
  CHECK(ask(R"(
SELECT event_no, id, event_type, event_version, publish_status, retry_count, max_retry_count, topic, routing_key,
    last_publish_time, published_time, fail_reason, create_time, update_time
FROM biz_outbox_event
WHERE deleted = 0
  AND aggregate_type = 'ORDER'
  AND aggregate_id = 'id-due'
ORDER BY create_time ASC)") == Numbers{"due"});
}

TEST_CASE_METHOD(SeedTable, "seed: one event by its number") {
  CHECK(ask(R"(
SELECT locked_by, id, event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel,
    topic, routing_key, event_payload, event_headers, publish_status, retry_count, max_retry_count, next_retry_time,
    lock_until, last_publish_time, published_time, fail_reason, trace_id, create_time, update_time
FROM biz_outbox_event
WHERE event_no = 'expired')") == Numbers{"relay-a"});
}

TEST_CASE_METHOD(SeedTable, "seed: counts by status") {
  const std::string counts = R"(
SELECT publish_status || ':' || COUNT(*) AS total_count
FROM biz_outbox_event
WHERE deleted = 0
  AND event_type = 'ORDER_CREATED'
  AND create_time >= 0
  AND create_time < NOW() + 1
GROUP BY publish_status
ORDER BY publish_status ASC)";
  CHECK(ask(counts) == Numbers{"0:2", "1:1", "2:1", "3:3", "4:1"});
}

TEST_CASE_METHOD(SeedTable, "seed: failed events of a topic") {
  CHECK(ask(R"(
SELECT event_no, id, event_type, aggregate_type, aggregate_id, topic, routing_key, retry_count, max_retry_count,
    next_retry_time, fail_reason, update_time
FROM biz_outbox_event
WHERE deleted = 0
  AND topic = 'order.event'
  AND publish_status = 3
ORDER BY update_time DESC, id
LIMIT 100)") == Numbers{"dead", "due", "later"});
}

TEST_CASE_METHOD(SeedTable, "seed: the event of an order, in the order's transaction and once") {
  database->exec("CREATE TABLE biz_order (id INTEGER PRIMARY KEY, order_no TEXT, create_time INTEGER)");
  const std::string insert = R"(
INSERT INTO biz_outbox_event (
    id, event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel, topic,
    routing_key, event_payload, event_headers, publish_status, retry_count, max_retry_count, trace_id, create_time,
    update_time
) VALUES (
    200000000000000001, 'OUTBOX_ORDER_CREATED_100000000000000001', 'ORDER', '100000000000000001', 'ORDER_CREATED', 1,
    'order-service', 'MQ', 'order.event', 'order.created',
    JSON_OBJECT('orderId', 100000000000000001, 'orderNo', 'ORDER202605130001', 'userId', 10001, 'orderAmount', 199.00,
        'orderStatus', 0),
    JSON_OBJECT('tenantId', 'default', 'source', 'order-service'),
    0, 0, 5, 'trace-202605130001', NOW(), NOW()
))";
  write("BEGIN");
  write("INSERT INTO biz_order VALUES (100000000000000001, 'ORDER202605130001', NOW())");
  CHECK(write(insert) == 1);
  write("COMMIT");
  file.clock->advance(1s);
  // MySQL's ON DUPLICATE KEY UPDATE is an ON CONFLICT without a target here.
  CHECK(write(insert + " ON CONFLICT DO UPDATE SET update_time = excluded.update_time") == 1);

  const auto event = store->find("OUTBOX_ORDER_CREATED_100000000000000001");
  REQUIRE(event.has_value());
  CHECK(event->id == 200000000000000001);
  CHECK(event->update_time == now());
  CHECK(event->create_time == now() - 1s);
  CHECK(event->event_headers == R"({"tenantId":"default","source":"order-service"})");
  CHECK(append(*store, make_event("after")).id > event->id);
  const Numbers delivered = deliver_all(*store);
  CHECK(std::find(delivered.begin(), delivered.end(), event->event_no) != delivered.end());
}

TEST_CASE_METHOD(SeedTable, "seed: a publisher of one's own claims, succeeds, fails, recovers and cancels") {
  const std::string id = std::to_string(store->find("pending-1")->id);
  const auto claim = [&] {
    return write(
        "UPDATE biz_outbox_event SET publish_status = 1, locked_by = 'publisher-01', lock_until = NOW() + "
        "120000000, last_publish_time = NOW(), version = version + 1, update_time = NOW() WHERE id = " +
        id +
        " AND deleted = 0 AND publish_status IN (0, 3) AND (next_retry_time IS NULL OR next_retry_time <= "
        "NOW())");
  };
  const auto state = [&] { return status_of(*store, "pending-1"); };
  REQUIRE(claim() == 1);
  CHECK(claim() == 0);
  CHECK(state() == Status::in_progress);
  SECTION("succeeds") {
    CHECK(write("UPDATE biz_outbox_event SET publish_status = 2, published_time = NOW(), fail_reason = NULL, locked_by "
                "= NULL, lock_until = NULL, update_time = NOW() WHERE id = " +
                id + " AND deleted = 0 AND publish_status = 1 AND locked_by = 'publisher-01'") == 1);
    CHECK(state() == Status::succeeded);
  }
  SECTION("fails") {
    CHECK(
        write("UPDATE biz_outbox_event SET publish_status = 3, retry_count = retry_count + 1, next_retry_time = NOW() "
              "+ 300000000, fail_reason = '发送MQ消息超时', locked_by = NULL, lock_until = NULL, update_time = NOW() "
              "WHERE id = " +
              id +
              " AND deleted = 0 AND publish_status = 1 AND locked_by = 'publisher-01' AND retry_count < "
              "max_retry_count") == 1);
    CHECK(state() == Status::failed);
    file.clock->advance(5min);
    const Numbers delivered = deliver_all(*store);
    CHECK(std::find(delivered.begin(), delivered.end(), "pending-1") != delivered.end());
  }
  SECTION("crashes, and anybody recovers it") {
    file.clock->advance(2min);
    CHECK(
        write("UPDATE biz_outbox_event SET publish_status = 3, retry_count = retry_count + 1, next_retry_time = NOW() "
              "+ 60000000, fail_reason = '发布器锁定超时，等待重新发布', locked_by = NULL, lock_until = NULL, "
              "update_time = NOW() WHERE deleted = 0 AND publish_status = 1 AND lock_until <= NOW()") == 2);
    CHECK(state() == Status::failed);
    CHECK(store->expired(10).empty());
  }
}

TEST_CASE_METHOD(SeedTable, "seed: an event nobody wants any more") {
  const std::string id = std::to_string(store->find("later")->id);
  CHECK(
      write(
          "UPDATE biz_outbox_event SET publish_status = 4, fail_reason = '业务已关闭，取消事件发布', locked_by = NULL, "
          "lock_until = NULL, update_time = NOW() WHERE id = " +
          id + " AND deleted = 0 AND publish_status IN (0, 3)") == 1);
  CHECK(store->find("later")->fail_reason == "业务已关闭，取消事件发布");
  CHECK(store->stats({}).of(Status::cancelled) == 2);
}

TEST_CASE("the seed's queries find their indexes in the full set") {
  StoreFile file;
  file.options.full_indexes = true;
  (void)file.create();
  SQLite::Database database = file.other_program();
  const auto plan = [&](const std::string& sql) {
    SQLite::Statement query(database, "EXPLAIN QUERY PLAN " + sql);
    std::string text;
    while (query.executeStep()) text += query.getColumn(3).getString() + "; ";
    return text;
  };
  using Catch::Matchers::Contains;
  const std::string from = "SELECT id FROM biz_outbox_event WHERE deleted = 0 AND ";
  CHECK_THAT(plan(from + "publish_status = 0 ORDER BY create_time ASC LIMIT 100"), Contains("idx_outbox_new"));
  CHECK_THAT(plan(from + "publish_status = 3 AND retry_count < max_retry_count AND next_retry_time <= 7 ORDER BY "
                         "next_retry_time ASC LIMIT 100"),
             Contains("SEARCH") && Contains("idx_outbox_failed") && !Contains("TEMP B-TREE"));
  CHECK_THAT(plan(from + "publish_status = 1 AND lock_until <= 7 ORDER BY lock_until ASC LIMIT 100"),
             Contains("SEARCH") && Contains("idx_outbox_lease") && !Contains("TEMP B-TREE"));
  CHECK_THAT(plan(from + "aggregate_type = 'ORDER' AND aggregate_id = '7' ORDER BY create_time"),
             Contains("idx_aggregate"));
  CHECK_THAT(plan("SELECT * FROM biz_outbox_event WHERE event_no = 'x'"), Contains("uk_event_no"));
  CHECK_THAT(plan(from + "event_type = 'x' AND create_time >= 1 AND create_time < 2"),
             Contains("idx_event_type_create_time"));
  CHECK_THAT(plan(from + "trace_id = 'x'"), Contains("idx_trace_id"));
}

}  // namespace
}  // namespace waybill::test
