// The seeds' own tables, by their own text: delivered from, and never altered.

#include "adopted/tables.hpp"

namespace waybill::test {
namespace {

std::string table_text(Shop& shop, const std::string& table) {
  return shop.is_sqlite() ? shop.value("SELECT sql FROM sqlite_master WHERE name = '" + table + "'")
                          : shop.value("SHOW CREATE TABLE " + table);
}

TEST_CASE_METHOD(InShops, "the local message table: a row is delivered and says SENT, the table stays as it was") {
  create_local_message_table(*shop);
  const std::string before = table_text(*shop, "outbox");
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop, "B7", R"({"orderId": 7})");
  const std::vector<Event> events = store->claim(claim_request()).events;
  REQUIRE(numbers_of(events) == Numbers{number});
  const Event& event = events.front();
  CHECK(event.aggregate_type == "outbox");
  CHECK(event.aggregate_id == "B7");
  CHECK(event.event_type == "ORDER_CREATED");
  CHECK(event.event_source == "outbox");
  CHECK(event.max_retry_count == 3);
  CHECK(event.event_payload == R"({"orderId": 7})");
  CHECK(std::chrono::abs(event.create_time - store->now()) < 10min);
  CHECK(order_state(*shop, "status, retry_count", number) == "PENDING|0");
  CHECK(succeed(*store, event) == SettleStatus::applied);
  CHECK(order_state(*shop, "status, retry_count", number) == "SENT|0");
  CHECK(store->find(number)->publish_status == Status::succeeded);
  CHECK(table_text(*shop, "outbox").substr(0, 400) == before.substr(0, 400));
}

TEST_CASE_METHOD(InShops, "the local message table: a failure keeps PENDING and counts, the third one says FAILED") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop);
  for (const char* state : {"PENDING|1", "PENDING|2", "FAILED|3"}) {
    const std::vector<Event> events = claim_soon(*store);
    REQUIRE(numbers_of(events) == Numbers{number});
    CHECK(fail(*store, events.front(), 1min) == SettleStatus::applied);
    CHECK(order_state(*shop, "status, retry_count", number) == state);
    CHECK(store->claim(claim_request()).events.empty());
    shop->clock->advance(1min);
  }
  CHECK(store->stats({}).dead == 1);
  CHECK(store->find(number)->fail_reason == "refused");

  SECTION("retry by hand gives it a fresh start") {
    CHECK(store->requeue({}, 10) == 1);
    CHECK(order_state(*shop, "status, retry_count", number) == "PENDING|0");
    CHECK(deliver_all(*store) == Numbers{number});
    CHECK(order_state(*shop, "status, retry_count", number) == "SENT|0");
  }
  SECTION("cancelled by hand it stays FAILED: the table has no word for it") {
    CHECK(store->cancel({}, "not wanted", 10) == 1);
    CHECK(order_state(*shop, "status", number) == "FAILED");
    CHECK(deliver_all(*store) == Numbers{});
  }
}

TEST_CASE_METHOD(InShops, "the domain event table: a row is delivered and says 1, a failure leaves it at 0") {
  create_domain_event_table(*shop);
  const auto store = shop->adopt(model_of("domain_event_outbox"));
  record_event(*shop, "evt-1", "O1");
  const std::vector<Event> events = claim_soon(*store);
  REQUIRE(numbers_of(events) == Numbers{"evt-1"});
  CHECK(events.front().aggregate_type == "Order");
  CHECK(events.front().aggregate_id == "O1");
  CHECK(events.front().event_type == "OrderCreated");
  CHECK(fail(*store, events.front(), 1min) == SettleStatus::applied);
  CHECK(shop->value("SELECT status FROM domain_event_outbox") == "0");
  CHECK(store->find("evt-1")->retry_count == 1);
  shop->clock->advance(1min);
  CHECK(deliver_all(*store) == Numbers{"evt-1"});
  CHECK(shop->value("SELECT status FROM domain_event_outbox") == "1");
  CHECK(store->find("evt-1")->publish_status == Status::succeeded);
}

/// `event_status`, attempts, and whether the reason, the retry time and the success time are there.
std::string message_state(Shop& shop) {
  return shop.value(
      "SELECT event_status, retry_count, version, fail_reason IS NULL, next_retry_time IS NULL, success_time IS NULL, "
      "last_handle_time IS NULL FROM biz_message_event");
}

/// On SQLite waybill's own table has times in microseconds, a user's what he likes; servers' are UTC.
void insert_message(Shop& shop) {
  if (!shop.is_sqlite()) shop.run("SET time_zone = '+00:00'");
  shop.run(R"(INSERT INTO biz_message_event (id, event_no, event_type, biz_type, biz_id, event_source, event_payload,
    event_status, retry_count, max_retry_count, trace_id, create_time, update_time) VALUES (100000000000000001,
    'EVT202605130001', 'ORDER_CREATED', 'ORDER', 'ORDER202605130001', 'order-service',
    '{"orderId": "ORDER202605130001"}', 0, 0, 3, 'trace-202605130001',
    strftime('%s') * 1000000, strftime('%s') * 1000000))",
           seed::kInsertMessage);
}

void require_message_is_delivered(Shop& shop, IEventRepository& store) {
  const std::vector<Event> events = claim_soon(store);
  REQUIRE(numbers_of(events) == Numbers{"EVT202605130001"});
  const Event& event = events.front();
  CHECK(event.id == 100000000000000001);
  CHECK(event.event_type == "ORDER_CREATED");
  CHECK(event.aggregate_type == "ORDER");
  CHECK(event.aggregate_id == "ORDER202605130001");
  CHECK(event.event_source == "order-service");
  CHECK(event.publish_channel == "EVENT_BUS");
  CHECK(event.trace_id == "trace-202605130001");
  CHECK(event.max_retry_count == 3);
  CHECK(message_state(shop) == "1|0|1|1|1|1|0");
  CHECK(succeed(store, event) == SettleStatus::applied);
  CHECK(message_state(shop) == "2|0|1|1|1|0|0");
}

TEST_CASE_METHOD(InBareShops, "the message table: the user's own CREATE TABLE first, waybill init then") {
  create_message_table(*shop);
  insert_message(*shop);
  const std::string before = table_text(*shop, "biz_message_event");
  const auto store = shop->adopt(model_of("biz_message_event"));
  CHECK(table_text(*shop, "biz_message_event") == before);
  if (!shop->is_sqlite()) shop->run(seed::kInsertMessageAgain);
  require_message_is_delivered(*shop, *store);
  (void)shop->open(model_of("biz_message_event"), OpenMode::create);
  if (!shop->is_sqlite()) shop->run(seed::kInsertMessageAgain);
  CHECK(deliver_all(*store) == Numbers{});
}

TEST_CASE_METHOD(InShops, "the message table: waybill init first, it is the user's table all the same") {
  CHECK_THROWS(create_message_table(*shop));  // it is there
  const auto store = shop->open(model_of("biz_message_event"));
  insert_message(*shop);
  require_message_is_delivered(*shop, *store);
  if (!shop->is_sqlite()) shop->run(seed::kInsertMessageAgain);
  CHECK(deliver_all(*store) == Numbers{});
}

TEST_CASE_METHOD(InBareShops, "the message table: failures say 3 and when again, three of them are dead") {
  create_message_table(*shop);
  insert_message(*shop);
  const auto store = shop->adopt(model_of("biz_message_event"));
  for (const char* state : {"3|1|1|0|0|1|0", "3|2|2|0|0|1|0", "3|3|3|0|1|1|0"}) {
    const std::vector<Event> events = claim_soon(*store);
    REQUIRE(events.size() == 1);
    CHECK(fail(*store, events.front(), 5min, "库存服务超时") == SettleStatus::applied);
    CHECK(message_state(*shop) == state);
    CHECK(shop->value("SELECT fail_reason FROM biz_message_event") == "库存服务超时");
    shop->clock->advance(5min);
  }
  CHECK(store->stats({}).dead == 1);
  SECTION("retried by hand it is pending, and delivered") {
    CHECK(store->requeue({}, 10) == 1);
    CHECK(shop->value("SELECT event_status, retry_count FROM biz_message_event") == "0|0");
    CHECK(deliver_all(*store) == Numbers{"EVT202605130001"});
    CHECK(shop->value("SELECT event_status FROM biz_message_event") == "2");
  }
  SECTION("cancelled by hand it says 4 and why") {
    CHECK(store->cancel({}, "业务已关闭", 10) == 1);
    CHECK(shop->value("SELECT event_status, fail_reason FROM biz_message_event") == "4|业务已关闭");
    CHECK(deliver_all(*store) == Numbers{});
  }
  SECTION("cancelled by the seed's statement it is forgotten") {
    shop->run("UPDATE biz_message_event SET event_status = 4", seed::kCancelByHand);
    CHECK(deliver_all(*store) == Numbers{});
    CHECK(store->stats({}).of(Status::cancelled) == 1);
    CHECK(shop->value("SELECT COUNT(*) FROM waybill_message_delivery") == "0");
  }
}

TEST_CASE_METHOD(OnServers, "the message table: the seed's statements by hand and waybill's delivery go together") {
  const auto store = shop->open(model_of("biz_message_event"));
  insert_message(*shop);
  SECTION("a message that somebody has taken by hand is not delivered, and is when he has failed") {
    shop->run(seed::kClaimByHand);
    CHECK(deliver_all(*store) == Numbers{});
    CHECK(store->stats({}).of(Status::in_progress) == 1);
    shop->run(seed::kFailByHand);
    CHECK(deliver_all(*store) == Numbers{});
    const std::optional<Event> event = store->find("EVT202605130001");
    CHECK(event->retry_count == 1);
    CHECK(event->fail_reason == "调用下游库存服务超时");
    shop->clock->advance(6min);
    CHECK(deliver_all(*store) == Numbers{"EVT202605130001"});
    CHECK(shop->value("SELECT event_status, retry_count FROM biz_message_event") == "2|1");
  }
  SECTION("a message that waybill holds and somebody finishes by hand stays finished") {
    const std::vector<Event> events = claim_soon(*store);
    REQUIRE(events.size() == 1);
    shop->run(seed::kSucceedByHand);
    CHECK(fail(*store, events.front(), 1min) == SettleStatus::applied);
    CHECK(shop->value("SELECT event_status, retry_count FROM biz_message_event") == "2|0");
    shop->clock->advance(1min);
    CHECK(deliver_all(*store) == Numbers{});
    CHECK(shop->value("SELECT COUNT(*) FROM waybill_message_delivery") == "0");
  }
}

}  // namespace
}  // namespace waybill::test
