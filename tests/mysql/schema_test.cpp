// Tables of `waybill init`, by both servers.

#include <future>

#include "mysql/mysql_fixture.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::test {
namespace {

/// The seed's own (000, "Outbox事件表模型"), without its comments on columns. MariaDB does not know its collation.
constexpr const char* kSeedTable = R"(CREATE TABLE biz_outbox_event (
    id BIGINT UNSIGNED NOT NULL,
    event_no VARCHAR(64) NOT NULL,
    aggregate_type VARCHAR(64) NOT NULL,
    aggregate_id VARCHAR(64) NOT NULL,
    event_type VARCHAR(64) NOT NULL,
    event_version INT NOT NULL DEFAULT 1,
    event_source VARCHAR(64) NOT NULL,
    publish_channel VARCHAR(32) NOT NULL,
    topic VARCHAR(128) DEFAULT NULL,
    routing_key VARCHAR(128) DEFAULT NULL,
    event_payload JSON NOT NULL,
    event_headers JSON DEFAULT NULL,
    publish_status TINYINT NOT NULL DEFAULT 0,
    retry_count INT NOT NULL DEFAULT 0,
    max_retry_count INT NOT NULL DEFAULT 5,
    next_retry_time DATETIME DEFAULT NULL,
    locked_by VARCHAR(128) DEFAULT NULL,
    lock_until DATETIME DEFAULT NULL,
    last_publish_time DATETIME DEFAULT NULL,
    published_time DATETIME DEFAULT NULL,
    fail_reason VARCHAR(1000) DEFAULT NULL,
    trace_id VARCHAR(128) DEFAULT NULL,
    remark VARCHAR(500) DEFAULT NULL,
    version INT NOT NULL DEFAULT 0,
    deleted TINYINT NOT NULL DEFAULT 0,
    create_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    update_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=)";

constexpr const char* kSeedIndexes = R"(ALTER TABLE biz_outbox_event
    ADD UNIQUE KEY uk_event_no (event_no),
    ADD KEY idx_status_retry_time (publish_status, next_retry_time, retry_count),
    ADD KEY idx_status_lock_until (publish_status, lock_until),
    ADD KEY idx_aggregate (aggregate_type, aggregate_id),
    ADD KEY idx_event_type_create_time (event_type, create_time),
    ADD KEY idx_topic_create_time (topic, create_time),
    ADD KEY idx_trace_id (trace_id),
    ADD KEY idx_create_time (create_time))";

MysqlOptions creating(MysqlOptions options) {
  options.mode = OpenMode::create;
  return options;
}

/// What a database's tables are made of, as the server sees it.
std::string shape_of(const MysqlOptions& options) {
  PlainClient client(options);
  client.run("SET SESSION group_concat_max_len = 1000000");
  return client.value(
             "SELECT GROUP_CONCAT(CONCAT_WS(' ', table_name, column_name, column_type, collation_name, is_nullable, "
             "column_default, extra) ORDER BY table_name, ordinal_position SEPARATOR '\n') "
             "FROM information_schema.columns WHERE table_schema = DATABASE()") +
         "\n" +
         client.value(
             "SELECT GROUP_CONCAT(CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name, non_unique) "
             "ORDER BY table_name, index_name, seq_in_index SEPARATOR '\n') "
             "FROM information_schema.statistics WHERE table_schema = DATABASE()");
}

TEST_CASE("init may be repeated and keeps the rows", "[schema]") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    MysqlDatabase database(server);
    database.run("INSERT INTO waybill_note (name, value) VALUES ('kept', 'yes')");
    const auto repository = open_mysql(creating(database.options()));
    CHECK(repository->note("kept") == "yes");
  }
}

TEST_CASE_METHOD(OnPrivateServers, "init by several at once makes the tables once, and all may go on", "[schema]") {
  options = server.new_database(false);
  std::vector<std::future<std::unique_ptr<IEventRepository>>> openings;
  for (int count = 0; count < 4; ++count)
    openings.push_back(std::async(std::launch::async, [&] { return open_mysql(creating(options)); }));
  int number = 0;
  for (auto& opening : openings) deliver_one(*opening.get(), "e" + std::to_string(++number));
  CHECK(value("SELECT COUNT(*) FROM waybill_schema") == std::to_string(sql::mysql::kSchema.size()));
}

TEST_CASE_METHOD(OnPrivateServers, "init waits for another that is at work on the database", "[schema]") {
  options = server.new_database(false);
  PlainClient another(options);
  REQUIRE(another.value("SELECT GET_LOCK(CONCAT('waybill init ', DATABASE()), 0)") == "1");
  auto opening = std::async(std::launch::async, [&] { return open_mysql(creating(options)); });
  const std::string waiting =
      "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND state = 'User lock'";
  CHECK(eventually([&] { return another.value(waiting) == "1"; }));
  CHECK(another.value("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()") == "0");
  another.run("DO RELEASE_LOCK(CONCAT('waybill init ', DATABASE()))");
  deliver_one(*opening.get(), "e1");
}

TEST_CASE_METHOD(OnPrivateServers, "init makes a table usable that the seed's own statement has created", "[schema]") {
  const bool with_indexes = GENERATE(false, true);
  INFO("with the seed's indexes: " << with_indexes);
  const MysqlOptions fresh = [&] {
    MysqlOptions made = server.new_database(false);
    (void)open_mysql(creating(made));
    return made;
  }();
  options = server.new_database(false);
  value(kSeedTable + std::string(server.is_mariadb() ? "utf8mb4_uca1400_ai_ci" : "utf8mb4_0900_ai_ci"));
  if (with_indexes) value(kSeedIndexes);
  value(
      "INSERT INTO biz_outbox_event (id, event_no, aggregate_type, aggregate_id, event_type, event_source, "
      "publish_channel, event_payload) VALUES (1234567890123, 'old', 'ORDER', '1', 'ORDER_CREATED', 'shop', 'MQ', "
      "'{}')");
  const auto store = open_mysql(creating(options));
  if (!with_indexes) CHECK(shape_of(options) == shape_of(fresh));
  for (const char* event_no : {"new", "NEW", "new "})
    CHECK(append(*store, make_event(event_no)) == AppendStatus::inserted);
  CHECK(store->find("new")->id > 1234567890123);
  const std::vector<Event> events = store->claim(claim_request()).events;
  REQUIRE(numbers_of(events) == Numbers{"old", "new", "NEW", "new "});
  for (const Event& event : events) {
    CHECK(event.lock_until == *event.last_publish_time + 30s);
    CHECK(store->find(event.event_no)->lock_until == event.lock_until);  // to the microsecond
    CHECK(settle(*store, settlement_of(event, Command::succeed)) == SettleStatus::applied);
  }
  CHECK(store->archive(store->now() + 1h, 100) == 4);
}

TEST_CASE_METHOD(OnPrivateServers, "tables of a newer waybill are refused, by init too, and stay as they are",
                 "[schema]") {
  value("INSERT INTO waybill_schema (version, name) VALUES (99, 'of the future')");
  const std::string shape = shape_of(options);
  for (const MysqlOptions& opening : {options, creating(options)})
    CHECK(is(error_of([&] { (void)open_mysql(opening); }), ErrorCode::schema,
             {"99", std::to_string(sql::mysql::kSchema.size()), "newer waybill"}));
  CHECK(shape_of(options) == shape);
  value("DELETE FROM waybill_schema WHERE version = 99");
  value("DELETE FROM waybill_schema ORDER BY version DESC LIMIT 1");
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::schema, {"waybill init"}));
}

TEST_CASE_METHOD(OnPrivateServers, "init brings tables of the version before up to date, whatever their indexes",
                 "[schema]") {
  MysqlOptions fresh = server.new_database(false);
  fresh.full_indexes = GENERATE(true, false);
  (void)open_mysql(creating(fresh));
  const bool has_index = GENERATE(true, false);  // of the seed's set, which init made with indexes=full
  options = fresh;
  for (const char* undo : {"DROP TABLE biz_event_stat", "DROP TABLE waybill_stat_day",
                           "ALTER TABLE biz_outbox_event_archive DROP KEY idx_archive_create_time",
                           "DELETE FROM waybill_schema WHERE version >= 5"})
    value(undo);
  if (!has_index) value("ALTER TABLE biz_outbox_event DROP KEY idx_create_time");
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::schema, {"version 4", "waybill init"}));
  const auto store = open_mysql(creating(options));
  MysqlOptions other = server.new_database(false);
  other.full_indexes = fresh.full_indexes;
  (void)open_mysql(creating(other));
  CHECK(shape_of(options) == shape_of(other));
  deliver_one(*store, "e1");
  CHECK(store->rollup(10) == RollupResult{1, false});
}

TEST_CASE_METHOD(OnPrivateServers, "the printed schema runs through the server's own client and is what init makes",
                 "[schema]") {
  for (const bool full_indexes : {true, false}) {
    for (const bool text_payload : {true, false}) {
      INFO("full " << full_indexes << ", text " << text_payload);
      MysqlOptions by_init = server.new_database(false);
      by_init.full_indexes = full_indexes;
      by_init.text_payload = text_payload;
      (void)open_mysql(creating(by_init));
      options = server.new_database(false);
      const ProcessResult result = server.client("USE " + options.database + ";\n" + mysql_schema_sql(by_init));
      INFO(result.err);
      REQUIRE(result.exit_code == 0);
      CHECK(shape_of(options) == shape_of(by_init));
      deliver_one(*open(), "e1");
    }
  }
}

}  // namespace
}  // namespace waybill::test
