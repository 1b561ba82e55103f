// What people do to their table beside waybill.

#include "adopted/tables.hpp"

namespace waybill::test {
namespace {

/// A table with everything that a person may change.
void create_task_table(Shop& shop) {
  shop.run(
      "CREATE TABLE task (id INTEGER PRIMARY KEY AUTOINCREMENT, grp VARCHAR(20) NOT NULL, body TEXT, state "
      "VARCHAR(16) NOT NULL DEFAULT 'NEW', deleted INT NOT NULL DEFAULT 0, tenant VARCHAR(8), place INT)",
      "CREATE TABLE task (id BIGINT PRIMARY KEY AUTO_INCREMENT, grp VARCHAR(20) NOT NULL, body TEXT, state "
      "VARCHAR(16) NOT NULL DEFAULT 'NEW', deleted INT NOT NULL DEFAULT 0, tenant VARCHAR(8), place INT)");
  shop.run("CREATE INDEX idx_state ON task (state)");
}

TableModel task_model() {
  TableModel model;
  model.table = "task";
  model.columns = {
      {"aggregate_id", "grp"}, {"event_payload", "body"}, {"publish_status", "state"}, {"deleted", "deleted"}};
  model.constants = {{"max_retry_count", "2"}};
  model.status = {{"NEW"}, {"BUSY"}, {}, {"DONE"}, {"DEAD"}, {"DROPPED"}, true};
  return model;
}

void add_task(Shop& shop, const std::string& group, const std::string& body = "{}") {
  shop.run("INSERT INTO task (grp, body) VALUES ('" + group + "', '" + body + "')");
}

std::string delivery_rows(Shop& shop) { return shop.value("SELECT COUNT(*) FROM waybill_delivery"); }

const std::vector<std::pair<const char*, const char*>> kWithdrawals{
    {"deleted", "DELETE FROM task WHERE id = 1"},
    {"finished", "UPDATE task SET state = 'DONE' WHERE id = 1"},
    {"cancelled", "UPDATE task SET state = 'DROPPED' WHERE id = 1"},
    {"deleted softly", "UPDATE task SET deleted = 1 WHERE id = 1"}};

/// Task 1 stands before task 2 of the same group.
class Withdrawing : public InShops {
 protected:
  Withdrawing() {
    create_task_table(*shop);
    store = shop->adopt(task_model());
    add_task(*shop, "A");
    add_task(*shop, "A");
  }
  /// Task 1 by itself, in order.
  Event claim_head() {
    ClaimRequest request = ordered_request();
    request.limit = 1;
    const std::vector<Event> events = claim_soon(*store, request);
    REQUIRE(numbers_of(events) == Numbers{"task:1"});
    return events.front();
  }
  void withdraw() {
    const auto& [name, sql] = kWithdrawals[GENERATE_COPY(range(std::size_t{0}, kWithdrawals.size()))];
    UNSCOPED_INFO("the row is " << name);
    shop->run(sql);
    state_ = state();
  }
  /// Nothing of task 1 is left, task 2 moves.
  void require_forgotten() {
    CHECK(deliver_all(*store, ordered_request()) == Numbers{"task:2"});
    shop->clock->advance(2min);  // delivered ones are kept that long
    CHECK(deliver_all(*store, ordered_request()) == Numbers{});
    CHECK(delivery_rows(*shop) == "0");
    CHECK(state() == state_);
  }
  /// A softly deleted row may say what became of its event.
  [[nodiscard]] std::string state() {
    return shop->value("SELECT CASE WHEN deleted = 1 THEN 'deleted' ELSE state END FROM task WHERE id = 1");
  }

  std::unique_ptr<IEventRepository> store;

 private:
  std::string state_;
};

TEST_CASE_METHOD(Withdrawing, "a row withdrawn before waybill has seen it is not delivered") {
  withdraw();
  require_forgotten();
}

TEST_CASE_METHOD(Withdrawing, "a row that another program took is left to it") {
  const Event head = claim_head();
  CHECK(settle(*store, settlement_of(head, Command::release)) == SettleStatus::applied);
  CHECK(shop->value("SELECT state FROM task WHERE id = 1") == "NEW");
  shop->run("UPDATE task SET state = 'BUSY' WHERE id = 1");
  CHECK(deliver_all(*store, ordered_request()) == Numbers{"task:2"});
  CHECK(shop->value("SELECT state FROM task WHERE id = 1") == "BUSY");
}

TEST_CASE_METHOD(Withdrawing, "a row withdrawn while its event waits to be claimed is not delivered") {
  const Event head = claim_head();
  CHECK(settle(*store, settlement_of(head, Command::release)) == SettleStatus::applied);
  withdraw();
  require_forgotten();
}

TEST_CASE_METHOD(Withdrawing, "a row withdrawn while waybill holds it stays as it is, delivered or not") {
  const Event head = claim_head();
  withdraw();
  SECTION("delivered") { CHECK(succeed(*store, head) == SettleStatus::applied); }
  SECTION("failed") { CHECK(fail(*store, head, 2h) == SettleStatus::applied); }
  SECTION("given back") { CHECK(settle(*store, settlement_of(head, Command::release)) == SettleStatus::applied); }
  SECTION("given back for later") {
    Settlement later = settlement_of(head, Command::release);
    later.next_retry_time = store->now() + 2h;
    CHECK(settle(*store, later) == SettleStatus::applied);
  }
  require_forgotten();
}

TEST_CASE_METHOD(Withdrawing,
                 "a row withdrawn while its event waits to be tried again does not hold up its aggregate") {
  CHECK(fail(*store, claim_head(), 2h) == SettleStatus::applied);
  CHECK(deliver_all(*store, ordered_request()) == Numbers{});
  withdraw();
  require_forgotten();
}

TEST_CASE_METHOD(Withdrawing, "a row withdrawn when its event is dead does not block its aggregate") {
  CHECK(settle(*store, settlement_of(claim_head(), Command::reject)) == SettleStatus::applied);
  CHECK(deliver_all(*store, ordered_request()) == Numbers{});
  withdraw();
  require_forgotten();
}

TEST_CASE_METHOD(InShops, "a failed row that somebody sets to pending again is delivered again") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop);
  CHECK(settle(*store, settlement_of(claim_soon(*store).at(0), Command::reject)) == SettleStatus::applied);
  CHECK(order_state(*shop, "status", number) == "FAILED");
  CHECK(deliver_all(*store) == Numbers{});
  shop->run("UPDATE outbox SET status = 'PENDING'");
  CHECK(numbers_of(claim_soon(*store)) == Numbers{number});
}

TEST_CASE_METHOD(InShops, "a delivered row that somebody sets to pending again is delivered again, a minute later") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::string number = place_order(*shop);
  CHECK(deliver_all(*store) == Numbers{number});
  shop->run("UPDATE outbox SET status = 'PENDING'");
  shop->clock->advance(61s);
  CHECK(deliver_all(*store) == Numbers{number});
  CHECK(order_state(*shop, "status", number) == "SENT");
}

TEST_CASE_METHOD(InShops, "rows that had failed before waybill came are listed as dead, retry delivers them") {
  create_local_message_table(*shop);
  const std::string number = place_order(*shop);
  shop->run("UPDATE outbox SET status = 'FAILED', retry_count = 3");
  const auto store = shop->adopt(model_of("outbox"));
  CHECK(deliver_all(*store) == Numbers{});
  EventFilter dead;
  dead.dead = true;
  CHECK(numbers_of(store->query(dead, {})) == Numbers{number});
  CHECK(store->stats({}).dead == 1);
  CHECK(store->requeue(dead, 10) == 1);
  CHECK(order_state(*shop, "status, retry_count", number) == "PENDING|0");
  CHECK(deliver_all(*store) == Numbers{number});
}

TEST_CASE_METHOD(InShops, "rows that the filter leaves out are neither delivered nor seen") {
  create_task_table(*shop);
  TableModel model = task_model();
  model.filter = "t.tenant = 'eu'";
  const auto store = shop->adopt(model);
  for (const char* tenant : {"'eu'", "'us'", "NULL", "'eu'"})
    shop->run(std::string("INSERT INTO task (grp, body, tenant) VALUES ('A', '{}', ") + tenant + ")");
  CHECK(deliver_all(*store) == Numbers{"task:1", "task:4"});
  CHECK_FALSE(store->find("task:2").has_value());
  CHECK(store->stats({}).of(Status::succeeded) == 2);
  CHECK(store->stats({}).of(Status::pending) == 0);
  CHECK(shop->value("SELECT COUNT(*) FROM task WHERE state = 'NEW'") == "2");
}

TEST_CASE_METHOD(InShops, "events come in the order of the order column, with a number as the key and with a text") {
  const bool text_key = GENERATE(false, true);
  INFO((text_key ? "text key" : "number key"));
  shop->run(text_key ? "CREATE TABLE step (code VARCHAR(20) NOT NULL PRIMARY KEY, body TEXT, state INT NOT NULL, place "
                       "INT NOT NULL)"
                     : "CREATE TABLE step (code INT NOT NULL PRIMARY KEY, body TEXT, state INT NOT NULL, place INT NOT "
                       "NULL)");
  TableModel model;
  model.table = "step";
  model.columns = {{"event_payload", "body"}, {"publish_status", "state"}};
  model.constants = {{"aggregate_id", "all"}};
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  model.order = "place";
  const auto store = shop->adopt(model);
  for (const char* row : {"'7', '{}', 0, 3", "'1', '{}', 0, 2", "'9', '{}', 0, 1"})
    shop->run(std::string("INSERT INTO step VALUES (") + row + ")");
  CHECK(deliver_all(*store, ordered_request()) == Numbers{"step:9", "step:1", "step:7"});
  shop->run("INSERT INTO step VALUES ('5', '{}', 0, 4), ('0', '{}', 0, 5)");
  CHECK(deliver_all(*store, ordered_request()) == Numbers{"step:5", "step:0"});
}

TEST_CASE_METHOD(InShops, "a payload that is no JSON becomes a JSON text, none is null, an emoji survives") {
  create_task_table(*shop);
  const auto store = shop->adopt(task_model());
  add_task(*shop, "A", R"(order 7 "quoted" 📦)");
  add_task(*shop, "📦", R"({"text": "📦 库存"})");
  shop->run("INSERT INTO task (grp, body) VALUES ('A', NULL)");
  add_task(*shop, "A", "");
  add_task(*shop, "A", "17");
  const std::vector<Event> events = claim_soon(*store);
  REQUIRE(events.size() == 5);
  CHECK(events[0].event_payload == R"("order 7 \"quoted\" 📦")");
  CHECK(events[1].event_payload == R"({"text": "📦 库存"})");
  CHECK(events[1].aggregate_id == "📦");
  CHECK(events[2].event_payload == "null");
  CHECK(events[3].event_payload == R"("")");
  CHECK(events[4].event_payload == "17");
  for (const Event& event : events) CHECK(succeed(*store, event) == SettleStatus::applied);
}

TEST_CASE_METHOD(OnServers, "a table in latin1 is delivered from, whatever waybill has to write into it") {
  shop->run(
      "CREATE TABLE alt (nr VARCHAR(20) NOT NULL PRIMARY KEY, body TEXT, state VARCHAR(10) NOT NULL, why "
      "VARCHAR(40), who VARCHAR(10), tries INT NOT NULL DEFAULT 0, KEY (state)) CHARACTER SET latin1");
  TableModel model;
  model.table = "alt";
  model.columns = {{"event_no", "nr"},     {"event_payload", "body"}, {"publish_status", "state"},
                   {"fail_reason", "why"}, {"locked_by", "who"},      {"retry_count", "tries"}};
  model.status = {{"neu"}, {"läuft"}, {}, {"fertig"}, {}, {}, true};
  const auto store = shop->adopt(model);
  shop->run("INSERT INTO alt (nr, body, state) VALUES ('Ä1', '\"Größe\"', 'neu')");
  const std::vector<Event> events = claim_soon(*store, claim_request(100, "a relay with a long name"));
  REQUIRE(numbers_of(events) == Numbers{"Ä1"});
  CHECK(events.front().event_payload == "\"Größe\"");
  CHECK(shop->value("SELECT state, who FROM alt") == "läuft|a relay wi");
  CHECK(fail(*store, events.front(), 1min, "Größe 库存 📦" + std::string(100, 'x')) == SettleStatus::applied);
  CHECK(shop->value("SELECT state, why FROM alt") == "neu|Größe ?? ?" + std::string(30, 'x'));
  shop->clock->advance(1min);
  CHECK(deliver_all(*store) == Numbers{"Ä1"});
  CHECK(shop->value("SELECT state FROM alt") == "fertig");
}

TEST_CASE_METHOD(OnServers, "a reason with an emoji goes into a column that can't hold one") {
  shop->run(
      "CREATE TABLE alt (nr VARCHAR(20) NOT NULL PRIMARY KEY, body TEXT, state INT NOT NULL, why VARCHAR(40) "
      "CHARACTER SET utf8mb3)");
  TableModel model;
  model.table = "alt";
  model.columns = {{"event_no", "nr"}, {"event_payload", "body"}, {"publish_status", "state"}, {"fail_reason", "why"}};
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  const auto store = shop->adopt(model);
  shop->run("INSERT INTO alt (nr, body, state) VALUES ('1', '{}', 0)");
  CHECK(fail(*store, claim_soon(*store).at(0), 1min, "库存 📦") == SettleStatus::applied);
  CHECK(shop->value("SELECT why FROM alt") == "库存 ?");
}

}  // namespace
}  // namespace waybill::test
