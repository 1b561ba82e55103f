// The seed 000_847b01ea0ee57eb3, "Outbox事件表模型": its statements run unchanged on the tables of `waybill init`, sent
// by a client that knows nothing of waybill, and each side understands what the other wrote.

#include <algorithm>

#include "mysql/seed_table.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace waybill::test {
namespace {

constexpr const char* kOrder = "OUTBOX_ORDER_CREATED_100000000000000001";

// 常用写入

TEST_CASE_METHOD(SeedTable, "MySQL seed: an order and its event in one transaction", "[seed]") {
  write("DROP TABLE IF EXISTS biz_order");
  place_order();
  CHECK(ask("SELECT order_no FROM biz_order").rows.size() == 1);
  const Event event = order_event();
  CHECK(event.id == 200000000000000001);
  CHECK(event.aggregate_type == "ORDER");
  CHECK(event.aggregate_id == "100000000000000001");
  CHECK(event.event_type == "ORDER_CREATED");
  CHECK(event.event_version == 1);
  CHECK(event.event_source == "order-service");
  CHECK(event.publish_channel == "MQ");
  CHECK(event.topic == "order.event");
  CHECK(event.routing_key == "order.created");
  CHECK(event.trace_id == "trace-202605130001");
  CHECK(event.event_payload.find("ORDER202605130001") != std::string::npos);
  CHECK(event.event_headers.value_or("").find("tenantId") != std::string::npos);
  CHECK(event.publish_status == Status::pending);
  CHECK(event.max_retry_count == 5);
  CHECK(store->now() - event.create_time < 10s);
  CHECK(store->backlog().pending == 1);
  CHECK(deliver_all() == Numbers{kOrder});
  CHECK(order_event().publish_status == Status::succeeded);
  CHECK(append(*store, make_event("after")) == AppendStatus::inserted);
  CHECK(store->find("after")->id > event.id);  // ids that others gave are not met again
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: nobody sees the event of an order before the COMMIT", "[seed]") {
  place_order();
  write("DELETE FROM biz_order");
  write("DELETE FROM biz_outbox_event");
  const std::string_view commit = seed::kOrderTransaction.back();
  for (const std::string_view statement : seed::kOrderTransaction)
    if (statement != commit) write(statement);
  CHECK(store->claim(claim_request()).events.empty());
  SECTION("and never when it is rolled back") {
    write("ROLLBACK");
    CHECK(deliver_all().empty());
    CHECK_FALSE(store->find(kOrder).has_value());
  }
  SECTION("and everybody afterwards") {
    write(commit);
    CHECK(deliver_all() == Numbers{kOrder});
  }
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: an event that is written again stays as it was", "[seed]") {
  place_order();
  const Event before = order_event();
  SECTION("while it waits") {}
  SECTION("after it was delivered") { CHECK(deliver_all() == Numbers{kOrder}); }
  const Status status = order_event().publish_status;
  write("UPDATE biz_outbox_event SET update_time = update_time - INTERVAL 1 MINUTE");
  const Timestamp written = order_event().update_time;
  write(seed::kInsertOnce);
  write(seed::kInsertOnce);
  CHECK(ask("SELECT id FROM biz_outbox_event").rows.size() == 1);
  const Event after = order_event();
  CHECK(after.event_payload == before.event_payload);
  CHECK(after.event_headers == before.event_headers);
  CHECK(after.id == before.id);
  CHECK(after.publish_status == status);
  CHECK(after.update_time > written);
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: an event that is written once, and then by waybill's own put", "[seed]") {
  CHECK(write(seed::kInsertOnce) == 1);
  const Event event = order_event();
  NewEvent again;
  static_cast<EventContent&>(again) = event;
  CHECK(append(*store, again) == AppendStatus::duplicate);
  again.event_payload = R"({"orderId": 100000000000000002})";
  CHECK(append(*store, again) == AppendStatus::conflict);
  CHECK(deliver_all() == Numbers{kOrder});
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: a publisher of one's own claims and succeeds", "[seed]") {
  place_order();
  CHECK(write(seed::kSucceed) == 0);
  REQUIRE(write(seed::kClaim) == 1);
  CHECK(write(seed::kClaim) == 0);
  CHECK(store->claim(claim_request()).events.empty());
  const Event held = order_event();
  CHECK(held.publish_status == Status::in_progress);
  CHECK(held.locked_by == "publisher-01");
  CHECK(held.version == 1);
  CHECK(held.lock_until.value() - store->now() > 110s);
  CHECK(held.lock_until.value() - store->now() < 121s);
  CHECK(write(seed::kCancel) == 0);
  CHECK(write(seed::kSucceed) == 1);
  CHECK(write(seed::kSucceed) == 0);
  const Event done = order_event();
  CHECK(done.publish_status == Status::succeeded);
  CHECK(done.published_time.has_value());
  CHECK_FALSE(done.locked_by.has_value());
  CHECK(store->stats({}).of(Status::succeeded) == 1);
  CHECK(store->backlog().depth() == 0);
  CHECK(deliver_all().empty());
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: a publisher of one's own does not take what waybill holds", "[seed]") {
  place_order();
  const std::vector<Event> held = store->claim(claim_request()).events;
  REQUIRE(numbers_of(held) == Numbers{kOrder});
  CHECK(write(seed::kClaim) == 0);
  CHECK(write(seed::kSucceed) == 0);
  CHECK(write(seed::kFail) == 0);
  CHECK(write(seed::kRecover) == 0);
  CHECK(write(seed::kCancel) == 0);
  CHECK(settle(*store, settlement_of(held.front(), Command::succeed)) == SettleStatus::applied);
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: a publisher of one's own fails, and waybill tries again", "[seed]") {
  place_order();
  REQUIRE(write(seed::kClaim) == 1);
  CHECK(write(seed::kFail) == 1);
  CHECK(write(seed::kClaim) == 0);  // not due yet
  const Event failed = order_event();
  CHECK(failed.publish_status == Status::failed);
  CHECK(failed.retry_count == 1);
  CHECK(failed.fail_reason == "发送MQ消息超时");
  CHECK(failed.next_retry_time.value() - store->now() > 290s);
  CHECK(failed.next_retry_time.value() - store->now() < 301s);
  CHECK(store->stats({}).of(Status::failed) == 1);
  CHECK(store->stats({}).dead == 0);
  CHECK(store->backlog().retryable == 1);
  const ClaimResult nothing = store->claim(claim_request());
  CHECK(nothing.events.empty());
  CHECK(nothing.next_due == failed.next_retry_time);
  write("UPDATE biz_outbox_event SET next_retry_time = next_retry_time - INTERVAL 5 MINUTE");
  CHECK(numbers(seed::kRetryable) == Numbers{kOrder});
  SECTION("waybill") { CHECK(deliver_all() == Numbers{kOrder}); }
  SECTION("or the publisher itself") {
    CHECK(write(seed::kClaim) == 1);
    CHECK(write(seed::kSucceed) == 1);
    CHECK(order_event().version == 2);
  }
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: a publisher of one's own crashes, and anybody recovers it", "[seed]") {
  place_order();
  REQUIRE(write(seed::kClaim) == 1);
  CHECK(write(seed::kRecover) == 0);
  CHECK(numbers(seed::kLeaseRanOut).empty());
  CHECK(store->expired(10).empty());
  write("UPDATE biz_outbox_event SET lock_until = lock_until - INTERVAL 2 MINUTE");
  CHECK(numbers(seed::kLeaseRanOut) == Numbers{kOrder});
  const std::vector<ExpiredLease> expired = store->expired(10);
  REQUIRE(expired.size() == 1);
  CHECK(expired.front().token == Token{200000000000000001, 1, "publisher-01"});
  SECTION("by the seed's statement") {
    CHECK(write(seed::kRecover) == 1);
    CHECK(order_event().fail_reason == "发布器锁定超时，等待重新发布");
    CHECK(store->expired(10).empty());
    CHECK(store->claim(claim_request()).events.empty());  // due in a minute
    write("UPDATE biz_outbox_event SET next_retry_time = next_retry_time - INTERVAL 1 MINUTE");
  }
  SECTION("by waybill") {
    Settlement settlement;
    settlement.token = expired.front().token;
    settlement.command = Command::expire;
    settlement.next_retry_time = store->now();
    CHECK(settle(*store, settlement) == SettleStatus::applied);
    CHECK(write(seed::kSucceed) == 0);  // too late
  }
  CHECK(order_event().publish_status == Status::failed);
  CHECK(order_event().retry_count == 1);
  CHECK(deliver_all() == Numbers{kOrder});
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: the recovery takes a lease of waybill's that ran out, and its owner learns it",
                 "[seed]") {
  place_order();
  const std::vector<Event> held = store->claim(claim_request()).events;
  REQUIRE(held.size() == 1);
  write("UPDATE biz_outbox_event SET lock_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  CHECK(write(seed::kRecover) == 1);
  CHECK(settle(*store, settlement_of(held.front(), Command::succeed)) == SettleStatus::fenced);
  CHECK(order_event().publish_status == Status::failed);
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: an event that nobody wants any more is cancelled", "[seed]") {
  place_order();
  SECTION("before anybody tried") {}
  SECTION("after a failure") {
    REQUIRE(write(seed::kClaim) == 1);
    REQUIRE(write(seed::kFail) == 1);
  }
  CHECK(write(seed::kCancel) == 1);
  CHECK(write(seed::kCancel) == 0);
  CHECK(write(seed::kClaim) == 0);
  CHECK(order_event().publish_status == Status::cancelled);
  CHECK(order_event().fail_reason == "业务已关闭，取消事件发布");
  CHECK(store->stats({}).of(Status::cancelled) == 1);
  CHECK(deliver_all().empty());
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: a client in its own time zone still gets its event delivered", "[seed]") {
  write("SET time_zone = '+08:00'");
  place_order();
  CHECK(deliver_all() == Numbers{kOrder});
}

TEST_CASE_METHOD(SeedTable, "MySQL seed: the command delivers the event of an order", "[seed]") {
  place_order();
  const TempDir folder;
  ProcessOptions relay;
  relay.program = WAYBILL_COMMAND;
  relay.arguments = {"relay", "--store", database->url(), "--to", "stdout:?format=event", "--drain"};
  const ProcessResult result = run_process(relay, {}, folder.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find(kOrder) != std::string::npos);
  CHECK(result.out.find("ORDER202605130001") != std::string::npos);
  CHECK(order_event().publish_status == Status::succeeded);
}

// 常用查询

/// An event in each state, by names that say it, some in the terms that the seed's queries ask for.
class SeedStates : public SeedTable {
 protected:
  SeedStates() {
    for (const char* name : {"succeeded", "dead", "due", "later", "expired"}) (void)claimed(*store, name);
    change("succeeded", "publish_status = 2, published_time = UTC_TIMESTAMP(6), locked_by = NULL, lock_until = NULL");
    change("dead", "publish_status = 3, retry_count = max_retry_count, next_retry_time = NULL");
    change("due", "publish_status = 3, retry_count = 1, next_retry_time = UTC_TIMESTAMP(6) - INTERVAL 2 SECOND");
    change("later", "publish_status = 3, retry_count = 1, next_retry_time = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
    change("expired", "lock_until = UTC_TIMESTAMP(6) - INTERVAL 2 SECOND");
    for (const char* name : {"pending", "OUTBOX202605130001", "cancelled", "other topic"})
      (void)append(*store, make_event(name));
    change("OUTBOX202605130001", "aggregate_id = 'ORDER202605130001', create_time = '2026-05-13 10:00:00'");
    change("succeeded", "aggregate_id = 'ORDER202605130001', create_time = '2026-05-12 10:00:00'");
    change("cancelled", "publish_status = 4, create_time = '2026-05-31 23:59:59'");
    change("other topic", "publish_status = 3, topic = 'another', create_time = '2026-06-01 00:00:00'");
    // The failed ones in a known order.
    for (const auto& [name, minutes] : std::map<std::string, std::string>{{"dead", "1"}, {"due", "2"}, {"later", "3"}})
      change(name, "update_time = UTC_TIMESTAMP(6) + INTERVAL " + minutes + " MINUTE");
  }

  void change(const std::string& event_no, const std::string& columns) {
    REQUIRE(write("UPDATE biz_outbox_event SET " + columns + " WHERE event_no = '" + event_no + "'") == 1);
  }
};

TEST_CASE_METHOD(SeedStates, "MySQL seed: each of its queries finds what it asks for", "[seed]") {
  CHECK(numbers(seed::kPending) == Numbers{"OUTBOX202605130001", "pending"});
  CHECK(numbers(seed::kRetryable) == Numbers{"due"});
  CHECK(numbers(seed::kLeaseRanOut) == Numbers{"expired"});
  CHECK(numbers(seed::kOfAggregate) == Numbers{"succeeded", "OUTBOX202605130001"});
  CHECK(numbers(seed::kByNumber) == Numbers{"OUTBOX202605130001"});
  CHECK(numbers(seed::kFailedOfTopic) == Numbers{"later", "due", "dead"});
  std::map<std::string, std::string> counts;
  for (const auto& row : ask(seed::kCountByStatus).rows) counts[row.at("publish_status")] = row.at("total_count");
  CHECK(counts == std::map<std::string, std::string>{{"0", "1"}, {"2", "1"}, {"4", "1"}});
}

TEST_CASE_METHOD(SeedStates, "MySQL seed: waybill sees the states that others have written", "[seed]") {
  const Stats stats = store->stats({});
  CHECK(stats.of(Status::pending) == 2);
  CHECK(stats.of(Status::in_progress) == 1);
  CHECK(stats.of(Status::succeeded) == 1);
  CHECK(stats.of(Status::failed) == 4);
  CHECK(stats.of(Status::cancelled) == 1);
  CHECK(stats.dead == 2);
  CHECK(store->find("succeeded")->publish_status == Status::succeeded);
  CHECK(store->find("cancelled")->publish_status == Status::cancelled);
  CHECK(store->find("later")->publish_status == Status::failed);
  Numbers delivered = deliver_all();
  std::sort(delivered.begin(), delivered.end());
  CHECK(delivered == Numbers{"OUTBOX202605130001", "due", "pending"});
}

}  // namespace
}  // namespace waybill::test
