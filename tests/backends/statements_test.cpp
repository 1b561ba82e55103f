// Each SQL text of the build is run by the store, and the claim's texts search their indexes.

#include <algorithm>

#include "backends/sqlite_fixture.hpp"
#include "backends/statement_trace.hpp"
#include "contract/shop_table.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::test {
namespace {

using sql::sqlite::kQueries;
using sql::sqlite::Named;

/// Pieces of other statements.
bool is_fragment(const Named& query) { return query.name == "filter"; }

/// What only adopted tables need is never about biz_outbox_event itself.
std::string pattern_of(const Named& query) {
  constexpr std::string_view kOurs = "biz_outbox_event";
  std::string text(query.text);
  if (query.name.rfind("adopted_", 0) != 0) return text;
  for (std::size_t at = text.find(kOurs); at != std::string::npos; at = text.find(kOurs, at))
    text.replace(at, kOurs.size(), "{table}");
  return text;
}

bool was_run(const std::set<std::string>& texts, const Named& query) {
  const auto parts = statements_of(pattern_of(query));
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return is_fragment(query) ? holds(text, part) : fits(text, part);
    });
  });
}

RouteFilter all_but(const std::string& topic) {
  RouteRule down;
  down.pattern.topic = topic;
  down.take = false;
  return {down, RouteRule{}};
}

/// Claims of every kind, with more blocked events in front than a claim looks at.
void claim_in_every_way(StoreFile& file, IEventRepository& store) {
  std::vector<NewEvent> events;
  for (int i = 0; i < 1500; ++i) events.push_back(make_event("F" + std::to_string(i), i < 1200 ? "hot" : ""));
  events.back().next_retry_time = file.clock->now() + 1h;
  (void)store.append(events);
  ClaimRequest request = ordered_request(1);
  const Event head = store.claim(request).events.at(0);  // its 1199 followers are in the way from now on
  for (int i = 0; i < 3; ++i) (void)store.claim(request);
  (void)succeed(store, head);
  (void)store.claim(request);  // the run behind it, by a hint
  request.dead_head = DeadHead::skip;
  (void)store.claim(request);
  request.routes = all_but("closed");
  (void)store.exchange({}, request);
  const Event plain = store.claim(claim_request(1)).events.at(0);
  Settlement failed = settlement_of(plain, Command::fail);
  failed.next_retry_time = file.clock->now();
  (void)settle(store, failed);
  (void)store.claim(claim_request());
}

void settle_in_every_way(StoreFile& file, IEventRepository& store) {
  for (const Command command : {Command::succeed, Command::fail, Command::reject, Command::release, Command::expire}) {
    append(store, make_event("S-" + std::string(to_string(command))));
    ClaimRequest request = claim_request(10'000);
    request.lease = 1s;
    const Event event = store.claim(request).events.at(0);
    const Token token = token_of(event);
    (void)store.extend({&token, 1}, 1s);
    file.clock->advance(1s);
    (void)store.expired(1);
    Settlement settlement = settlement_of(event, command);
    settlement.cancel_if_dead = command == Command::reject;
    (void)settle(store, settlement);
  }
  append(store, make_event("S-1"));
  append(store, make_event("S-2"));
  std::vector<Settlement> together;
  for (const Event& event : store.claim(claim_request(10'000)).events)
    together.push_back(settlement_of(event, Command::succeed));
  (void)store.settle(together);
}

void ask_in_every_way(StoreFile& file, IEventRepository& store) {
  (void)store.find("F1");
  (void)store.find("no such number");
  EventFilter filter;
  for (const Status status : kAllStatuses) {
    filter.statuses = {status};
    (void)store.query(filter, {});
  }
  filter = {};
  filter.event_no = "F1";
  (void)store.query(filter, {});
  filter = {};
  filter.aggregate_type = "ORDER";
  filter.aggregate_id = "hot";
  (void)store.query(filter, {});
  filter = {};
  filter.trace_id = "trace";
  (void)store.query(filter, {});
  StatsRequest by_type;
  by_type.event_type = "ORDER_CREATED";
  StatsRequest by_topic;
  by_topic.topic = "order.event";
  for (const StatsRequest& request : {StatsRequest{}, by_type, by_topic}) (void)store.stats(request);
  (void)store.backlog();
  (void)store.backlog_by_channel();
  (void)store.diagnose();
  store.set_note("routes", "all");
  (void)store.note("routes");
  NewEvent old = make_event("of another day");
  old.create_time = file.clock->now() - 48h;
  append(store, old);
  (void)store.rollup(1);  // the other day waits
  (void)store.rollup(10);
  (void)store.requeue({}, 10);
  (void)store.cancel({}, "not wanted", 10);
  (void)store.rollup(10);
  (void)store.daily_stats({});
  file.clock->advance(1h);
  (void)store.archive(file.clock->now(), 3);
  append(store, make_event("after"));  // looks into the archive
  (void)store.purge(file.clock->now(), 10'000);
}

void fill_a_buffer() {
  StoreFile file;
  file.options.max_events = 1;
  file.options.on_full = OnFull::drop_oldest;
  const auto store = file.create();
  append(*store, make_event("B1"));
  append(*store, make_event("B2"));
  (void)store->rollup(1);  // makes its index, which the other store has
}

void consume(StoreFile& file) {
  SQLite::Database database = file.other_program();
  SqliteInbox inbox(database.getHandle(), file.clock);
  database.exec("BEGIN");
  (void)inbox.consume_once("stock", "E1");
  database.exec("COMMIT");
  (void)inbox.forget(file.clock->now(), 1);
}

/// Waits for the store to look behind the newest row it knows, which it does unless it looks at all rows just then.
void look_behind(StoreFile& file, IEventRepository& store, const StatementTrace& trace) {
  const auto looked = [&] {
    for (const std::string& text : trace.texts())
      if (holds(text, "INSERT INTO `waybill_delivery` {values} > ?3")) return true;
    return false;
  };
  for (int i = 0; i < 200 && !looked(); ++i) {
    append(store, make_event("L" + std::to_string(i)));
    (void)store.claim(claim_request());
    (void)store.claim(claim_request());
  }
  file.clock->advance(1h);
}

/// On a table of the user's own, with rows of its own.
void adopt_a_table(const StatementTrace& trace) {
  StoreFile file;
  file.other_program().exec(kSqliteShopTable);
  file.options.table = shop_table();
  const auto store = file.create();
  append(*store, make_event("A1"));
  append(*store, make_event("A2"));
  (void)store->claim(ordered_request());
  look_behind(file, *store, trace);
  for (int i = 0; i < 3; ++i) (void)deliver_all(*store);
  (void)store->find("A1");
  (void)store->purge(file.clock->now() + 1h, 1);
}

/// Every way to use a store; the texts it ran.
std::set<std::string> texts_of_a_tour() {
  StatementTrace trace;
  StoreFile file;
  file.options.full_indexes = true;
  {
    const auto store = file.create();
    claim_in_every_way(file, *store);
    settle_in_every_way(file, *store);
    ask_in_every_way(file, *store);
  }
  fill_a_buffer();
  consume(file);
  adopt_a_table(trace);
  return trace.texts();
}

TEST_CASE("every SQL text of the build is run by the store") {
  const std::set<std::string> texts = texts_of_a_tour();
  REQUIRE(texts.size() > kQueries.size());
  for (const Named& query : kQueries) {
    INFO(query.name << ": no method runs it, or this tour lacks that method");
    CHECK(was_run(texts, query));
  }
}

TEST_CASE("every SQL text the store runs can be prepared on a fresh schema") {
  const std::set<std::string> texts = texts_of_a_tour();
  StoreFile file;
  file.options.full_indexes = true;
  SQLite::Database database = file.other_program();
  database.exec(sqlite_schema_sql(full_schema(true)));
  for (const Named& query : kQueries)
    if (query.name == "order_index") database.exec(std::string(query.text));
  database.exec(kSqliteShopTable);
  file.options.table = shop_table();
  (void)file.create()->claim(ordered_request());
  for (const std::string& text : texts) {
    if (text.rfind("CREATE ", 0) == 0) continue;  // they are there
    INFO(text);
    CHECK_NOTHROW(SQLite::Statement(database, text));
  }
}

// --- Plans ---

/// A million rows are not needed to mislead the planner: ANALYZE of a table where nearly all rows are of one kind does.
void skew(SQLite::Database& database, int status, const std::string& next_retry_time) {
  database.exec("DELETE FROM biz_outbox_event");
  database.exec(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO biz_outbox_event "
      "(event_no, aggregate_type, aggregate_id, event_type, event_source, publish_channel, event_payload, "
      "publish_status, next_retry_time) SELECT 'N' || i, 'ORDER', i % 3, 'CREATED', 'plain', 'MQ', '{}', CASE WHEN i % "
      "1000 = 0 THEN (i / 1000) % 4 ELSE " +
      std::to_string(status) + " END, " + next_retry_time + " FROM n");
  database.exec("ANALYZE");
}

struct Expected {
  std::string_view name;
  std::string_view index;
};

constexpr std::array<Expected, 9> kPlans{{
    {"claim_new", "idx_outbox_new"},
    {"claim_retries", "idx_outbox_failed"},
    {"claim_scheduled", "idx_outbox_new"},
    {"aggregate_run", "idx_outbox_order"},
    {"earlier_unsettled", "idx_outbox_order"},
    {"earlier_undead", "idx_outbox_order"},
    {"expired", "idx_outbox_lease"},
    {"find", "uk_event_no"},
    {"find_archived", "uk_archive_event_no"},
}};

/// Each step of the plan.
std::vector<std::string> plan_of(SQLite::Database& database, const std::string& text) {
  SQLite::Statement query(database, "EXPLAIN QUERY PLAN " + text);
  std::vector<std::string> steps;
  while (query.executeStep()) steps.push_back(query.getColumn(3).getString());
  return steps;
}

void check_plans(SQLite::Database& database, const std::set<std::string>& texts) {
  for (const Expected& expected : kPlans) {
    const auto named =
        std::find_if(kQueries.begin(), kQueries.end(), [&](const Named& query) { return query.name == expected.name; });
    REQUIRE(named != kQueries.end());
    int variants = 0;
    for (const std::string& text : texts) {
      if (!fits(text, even_space(named->text))) continue;
      ++variants;
      INFO(text);
      bool uses_index = false;
      for (const std::string& step : plan_of(database, text)) {
        INFO(step);
        CHECK(step.find("TEMP B-TREE") == std::string::npos);
        CHECK(step.find("SCAN") == std::string::npos);
        uses_index |= step.find("SEARCH") == 0 && step.find(expected.index) != std::string::npos;
      }
      CHECK(uses_index);
    }
    INFO(expected.name << " was not run");
    CHECK(variants > 0);
  }
}

TEST_CASE("the claim searches its indexes without a scan or a sort, whatever ANALYZE says") {
  const std::set<std::string> texts = texts_of_a_tour();
  StoreFile file;
  SQLite::Database database = file.other_program();
  database.exec(sqlite_schema_sql(full_schema(GENERATE(false, true))));
  for (const Named& query : kQueries)
    if (query.name == "order_index") database.exec(std::string(query.text));
  SECTION("no statistics") { check_plans(database, texts); }
  SECTION("all finished") {
    skew(database, 2, "NULL");
    check_plans(database, texts);
  }
  SECTION("all new") {
    skew(database, 0, "NULL");
    check_plans(database, texts);
  }
  SECTION("all scheduled for the same time") {
    skew(database, 0, "7");
    check_plans(database, texts);
  }
  SECTION("all waiting for a retry") {
    skew(database, 3, "7 + i");
    check_plans(database, texts);
  }
  SECTION("all in progress") {
    skew(database, 1, "NULL");
    check_plans(database, texts);
  }
}

/// Rows of an adopted table are many, and nearly all are delivered; what waits to be tried again may be many, too.
TEST_CASE(
    "what is new in an adopted table is found by its status index, what was withdrawn by the delivery's indexes") {
  const std::set<std::string> texts = texts_of_a_tour();
  StoreFile file;
  file.other_program().exec(kSqliteShopTable);
  file.options.table = shop_table();
  (void)file.create();
  SQLite::Database database = file.other_program();
  if (GENERATE(false, true)) {  // a backlog, when ANALYZE looked: the status seemed to tell nothing
    database.exec(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO shop_event (nr, "
        "kind, subject, what, shape, origin, channel, body, state, created, changed) SELECT i, 'ORDER', i, 'CREATED', "
        "1, 'shop', 'MQ', '{}', 'NEW', 1, 1 FROM n");
    database.exec("ANALYZE");
  }
  int searches = 0;
  for (const std::string& text : texts) {
    const bool registers = holds(text, "INSERT INTO `waybill_delivery` {values} LEFT JOIN `waybill_delivery`");
    const bool tidies = holds(text, "SELECT d.id FROM `waybill_delivery` AS d LEFT JOIN");
    if (!registers && !tidies) continue;
    ++searches;
    INFO(text);
    bool by_index = false;
    for (const std::string& step : plan_of(database, text)) {
      INFO(step);
      CHECK(step.find("SCAN") == std::string::npos);
      const bool behind = holds(text, "> ?3") && step.find("SEARCH t USING INTEGER PRIMARY KEY") == 0;
      by_index |= behind || step.find("SEARCH t USING INDEX idx_shop_state") == 0 ||
                  step.find("SEARCH d USING INDEX idx_waybill_delivery_") == 0;
    }
    CHECK(by_index);
  }
  CHECK(searches == 3);
}

}  // namespace
}  // namespace waybill::test
