// Leases, fencing, waiting, order: what holds for waybill's own table holds for a table of the user's.

#include <algorithm>
#include <set>

#include "adopted/tables.hpp"
#include "support/process.hpp"

namespace waybill::test {
namespace {

/// Both tables as they are, for "nothing was changed".
Rows both_tables(Shop& shop) {
  Rows rows = shop.rows("SELECT id, status, retry_count, update_time FROM outbox ORDER BY id");
  const Rows delivery = shop.rows("SELECT * FROM waybill_delivery ORDER BY id");
  rows.insert(rows.end(), delivery.begin(), delivery.end());
  return rows;
}

TEST_CASE_METHOD(InShops, "adopted: a second owner gets nothing while the lease runs, then the first one is fenced") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const auto other = shop->open(model_of("outbox"));
  const std::string number = place_order(*shop);
  ClaimRequest request = claim_request();
  request.lease = 30s;
  const Event held = claim_soon(*store, request).at(0);
  CHECK(other->claim(claim_request(100, "relay-b")).events.empty());
  shop->clock->advance(30s);
  const std::vector<ExpiredLease> expired = other->expired(10);
  REQUIRE(expired.size() == 1);
  Settlement give_back;
  give_back.token = expired.front().token;
  give_back.command = Command::expire;
  give_back.next_retry_time = other->now();
  give_back.reason = "the lease of relay-a ran out";
  CHECK(settle(*other, give_back) == SettleStatus::applied);
  CHECK(order_state(*shop, "status, retry_count", number) == "PENDING|1");
  const Event again = claim_soon(*other, claim_request(100, "relay-b")).at(0);
  CHECK(again.event_no == number);
  CHECK(again.version > held.version);

  const Rows before = both_tables(*shop);
  CHECK(succeed(*store, held) == SettleStatus::fenced);
  CHECK(fail(*store, held, 1min) == SettleStatus::fenced);
  CHECK(settle(*store, settlement_of(held, Command::release)) == SettleStatus::fenced);
  CHECK(both_tables(*shop) == before);
  CHECK(succeed(*other, again) == SettleStatus::applied);
  CHECK(order_state(*shop, "status", number) == "SENT");
  CHECK(succeed(*store, held) == SettleStatus::fenced);
  CHECK(order_state(*shop, "status", number) == "SENT");
}

TEST_CASE_METHOD(InShops, "adopted: a fenced settlement does not touch a row that was set to pending by hand") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop);
  const Event held = claim_soon(*store).at(0);
  CHECK(succeed(*store, held) == SettleStatus::applied);
  shop->run("UPDATE outbox SET status = 'PENDING'");
  CHECK(succeed(*store, held) == SettleStatus::fenced);
  CHECK(order_state(*shop, "status", number) == "PENDING");
}

TEST_CASE_METHOD(InShops, "adopted: a failed event is not claimed before its time, and is then") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop);
  CHECK(fail(*store, claim_soon(*store).at(0), 10min) == SettleStatus::applied);
  const ClaimResult waiting = store->claim(claim_request());
  CHECK(waiting.events.empty());
  CHECK(waiting.next_due == store->now() + 10min);
  shop->clock->advance(10min - 1s);
  CHECK(store->claim(claim_request()).events.empty());
  shop->clock->advance(1s);
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{number});
}

TEST_CASE_METHOD(InShops, "adopted: an event given back counts no attempt, a rejected one is dead at once") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop);
  CHECK(settle(*store, settlement_of(claim_soon(*store).at(0), Command::release)) == SettleStatus::applied);
  CHECK(order_state(*shop, "status, retry_count", number) == "PENDING|0");
  const Event again = claim_soon(*store).at(0);
  CHECK(again.retry_count == 0);
  CHECK(settle(*store, settlement_of(again, Command::reject)) == SettleStatus::applied);
  CHECK(order_state(*shop, "status, retry_count", number) == "FAILED|1");
  CHECK(deliver_all(*store) == Numbers{});
}

TEST_CASE_METHOD(InShops, "adopted: a failing head holds back its aggregate only, dead, it blocks or is skipped") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string head = place_order(*shop, "A");
  const std::string behind = place_order(*shop, "A");
  const std::string elsewhere = place_order(*shop, "B");
  const ClaimRequest request = ordered_request();
  std::vector<Event> events = claim_soon(*store, request);
  REQUIRE(numbers_of(events) == Numbers{head, behind, elsewhere});
  CHECK(fail(*store, events[0], 1min) == SettleStatus::applied);
  CHECK(settle(*store, settlement_of(events[1], Command::release)) == SettleStatus::applied);
  CHECK(succeed(*store, events[2]) == SettleStatus::applied);
  CHECK(store->claim(request).events.empty());
  shop->clock->advance(1min);
  events = claim_soon(*store, request);
  REQUIRE(numbers_of(events) == Numbers{head, behind});
  CHECK(settle(*store, settlement_of(events[0], Command::reject)) == SettleStatus::applied);
  CHECK(settle(*store, settlement_of(events[1], Command::release)) == SettleStatus::applied);
  SECTION("block") { CHECK(deliver_all(*store, request) == Numbers{}); }
  SECTION("skip") { CHECK(deliver_all(*store, ordered_request(DeadHead::skip)) == Numbers{behind}); }
}

TEST_CASE_METHOD(InShops, "adopted: two relays share the rows, and no event goes to both") {
  create_domain_event_table(*shop);
  const auto left = shop->adopt(model_of("domain_event_outbox"));
  const auto right = shop->open(model_of("domain_event_outbox"));
  constexpr std::size_t kRows = 60;
  for (std::size_t i = 0; i < kRows; ++i) record_event(*shop, "e" + std::to_string(i), std::to_string(i % 7));
  std::multiset<std::string> numbers;
  std::size_t by_left = 0;
  std::size_t by_right = 0;
  (void)eventually([&] {
    for (const bool is_left : {true, false}) {
      IEventRepository& store = is_left ? *left : *right;
      for (const Event& event : store.claim(claim_request(5, is_left ? "left" : "right")).events) {
        numbers.insert(event.event_no);
        ++(is_left ? by_left : by_right);
        CHECK(succeed(store, event) == SettleStatus::applied);
      }
    }
    return numbers.size() >= kRows;
  });
  CHECK(numbers.size() == kRows);
  CHECK(std::set<std::string>(numbers.begin(), numbers.end()).size() == kRows);
  CHECK(by_left > 0);
  CHECK(by_right > 0);
  CHECK(deliver_all(*left) == Numbers{});
  CHECK(shop->value("SELECT COUNT(*) FROM domain_event_outbox WHERE status = 1") == std::to_string(kRows));
}

TEST_CASE_METHOD(OnServers,
                 "adopted: an ordered claim never passes a row that was committed late, but before the next") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const auto slow = shop->connect();
  const std::string insert = "INSERT INTO outbox (business_id, message_type, payload) VALUES ('A', 'CREATED', '{}')";
  slow->run("BEGIN");
  slow->run(insert);  // id 1
  CHECK(place_order(*shop, "B") == "outbox:2");
  CHECK(deliver_all(*store, ordered_request()) == Numbers{"outbox:2"});
  CHECK(store->claim(ordered_request()).events.empty());  // 2 is the newest key it knows
  slow->run("COMMIT");
  shop->run(insert);  // id 3, of the same aggregate
  CHECK(numbers_of(store->claim(ordered_request()).events) == Numbers{"outbox:1", "outbox:3"});
}

TEST_CASE_METHOD(OnServers, "adopted: a row committed late is delivered, though newer ones were before") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const auto slow = shop->connect();
  slow->run("BEGIN");
  slow->run("INSERT INTO outbox (business_id, message_type, payload) VALUES ('A', 'CREATED', '{}')");
  (void)place_order(*shop, "B");
  CHECK(deliver_all(*store) == Numbers{"outbox:2"});
  slow->run("COMMIT");
  CHECK(numbers_of(claim_soon(*store)) == Numbers{"outbox:1"});
}

TEST_CASE_METHOD(OnServers, "adopted: a claim does not wait for the user's open transactions") {
  create_local_message_table(*shop);
  create_domain_event_table(*shop);
  TableModel events = model_of("domain_event_outbox");
  events.delivery_table = "event_delivery";
  const auto orders = shop->adopt(model_of("outbox"));
  const auto store = shop->adopt(events);
  const auto slow = shop->connect();
  slow->run("BEGIN");
  slow->run("INSERT INTO outbox (business_id, message_type, payload) VALUES ('A', 'CREATED', '{}')");
  slow->run("INSERT INTO domain_event_outbox VALUES ('open', 'Order', 'A', 'Created', '{}', 0)");
  (void)place_order(*shop, "B");
  record_event(*shop, "E1");
  const auto begun = std::chrono::steady_clock::now();
  CHECK(deliver_all(*orders) == Numbers{"outbox:2"});
  CHECK(deliver_all(*store) == Numbers{"E1"});
  CHECK(std::chrono::steady_clock::now() - begun < 10s);  // a lock would be waited for 50 s
  slow->run("COMMIT");
  CHECK(deliver_all(*orders) == Numbers{"outbox:1"});
  CHECK(deliver_all(*store) == Numbers{"open"});
}

TEST_CASE_METHOD(InShops, "adopted: what was rolled back is seen again") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  CHECK(deliver_all(*store) == Numbers{});
  shop->run("BEGIN");
  (void)place_order(*shop, "A");
  shop->run("ROLLBACK");
  const std::string number = place_order(*shop, "A");
  CHECK(numbers_of(claim_soon(*store)) == Numbers{number});
}

}  // namespace
}  // namespace waybill::test
