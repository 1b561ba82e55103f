// A table that waybill can't work on is refused before anything is delivered, and the text says what to do.

#include "adopted/tables.hpp"
#include "waybill/error.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "waybill/backends/mysql.hpp"
#endif

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

class Starting : public InShops {
 protected:
  Starting() { create_local_message_table(*shop); }
  std::string refused(const TableModel& described) {
    return refusal(ErrorCode::schema, [&] { (void)shop->adopt(described); });
  }
  TableModel model = model_of("outbox");
};

TEST_CASE_METHOD(Starting, "adopted: a table that is not there is named") {
  model.table = "outbx";
  CHECK_THAT(refused(model), Contains("table 'outbx': there is no such table"));
}

TEST_CASE_METHOD(Starting, "adopted: a column that is not there is named, with its use and the nearest one") {
  model.columns["event_type"] = "mesage_type";
  CHECK_THAT(refused(model), Contains("it has no column 'mesage_type' for the event_type; did you mean "
                                      "'message_type'?") &&
                                 Contains("Its columns: id, business_id, message_type"));
  model = model_of("outbox");
  model.order = "created";
  CHECK_THAT(refused(model), Contains("it has no column 'created' for the order"));
}

TEST_CASE_METHOD(Starting, "adopted: a key must be unique, NOT NULL and one column") {
  model.columns["id"] = "business_id";
  CHECK_THAT(refused(model), Contains("its column 'business_id' is not unique and NOT NULL"));
  TableModel pair = model_of("domain_event_outbox");
  pair.table = "pair";
  pair.columns = {{"event_payload", "body"}, {"publish_status", "state"}};
  shop->run("CREATE TABLE pair (a INT NOT NULL, b INT NOT NULL, body TEXT, state INT NOT NULL, PRIMARY KEY (a, b))");
  CHECK_THAT(refused(pair), Contains("it has no primary key of one column; name a unique column with id = "));
  pair.columns["id"] = "b";
  CHECK_THAT(refused(pair), Contains("its column 'b' is not unique"));
  shop->run("CREATE UNIQUE INDEX uk_pair_b ON pair (b)");
  CHECK_NOTHROW(shop->adopt(pair));
}

TEST_CASE_METHOD(Starting, "adopted: a key that is only unique among some rows, or may be NULL, is none") {
  TableModel other = model_of("domain_event_outbox");
  other.table = "loose";
  other.columns = {{"id", "nr"}, {"event_payload", "body"}, {"publish_status", "state"}};
  shop->run("CREATE TABLE loose (nr INT, body TEXT, state INT NOT NULL)");
  shop->run("CREATE UNIQUE INDEX uk_loose ON loose (nr)");
  CHECK_THAT(refused(other), Contains("its column 'nr' is not unique and NOT NULL"));
  if (!shop->is_sqlite()) return;
  shop->run("CREATE TABLE some (nr INT NOT NULL, body TEXT, state INT NOT NULL)");
  shop->run("CREATE UNIQUE INDEX uk_some ON some (nr) WHERE state = 0");
  other.table = "some";
  CHECK_THAT(refused(other), Contains("its column 'nr' is not unique"));
}

TEST_CASE_METHOD(Starting, "adopted: status values must be of the column's kind") {
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  CHECK_THAT(refused(model), Contains("its column 'status' is of type varchar(16), and the status values are numbers"));
  create_domain_event_table(*shop);
  TableModel events = model_of("domain_event_outbox");
  events.status = {{"NEW"}, {}, {}, {"SENT"}, {}, {}, true};
  CHECK_THAT(refused(events), Contains("its column 'status' is of type tinyint") &&
                                  Contains("and the status values are texts; write them as the table has them"));
}

TEST_CASE_METHOD(Starting, "adopted: a row whose status means nothing is told, and delivered from once it does") {
  (void)place_order(*shop);
  shop->run("UPDATE outbox SET status = 'ON_HOLD'");
  CHECK_THAT(refused(model), Contains("there are rows with status 'ON_HOLD', which means nothing to waybill; say in "
                                      "[table.status] what it means"));
  model.status.cancelled = {"ON_HOLD"};
  CHECK(deliver_all(*shop->adopt(model)) == Numbers{});
  CHECK(shop->value("SELECT status FROM outbox") == "ON_HOLD");
}

TEST_CASE_METHOD(Starting, "adopted: without its delivery table it says to run waybill init") {
  const std::string text = refusal(ErrorCode::schema, [&] { (void)shop->open(model); });
  CHECK_THAT(text, Contains("table 'outbox' has no waybill_delivery beside it; create it with `waybill init`"));
}

TEST_CASE_METHOD(Starting, "adopted: a delivery table serves one table, another one needs a name of its own") {
  create_domain_event_table(*shop);
  (void)shop->adopt(model);
  TableModel events = model_of("domain_event_outbox");
  const std::string expected = "waybill_delivery belongs to table 'outbox'; give this one a delivery_table of another";
  CHECK_THAT(refused(events), Contains(expected));
  CHECK_THAT(refusal(ErrorCode::schema, [&] { (void)shop->open(events); }), Contains(expected));
  events.delivery_table = "event_delivery";
  const auto store = shop->adopt(events);
  record_event(*shop, "E1");
  (void)place_order(*shop);
  CHECK(deliver_all(*store) == Numbers{"E1"});
  CHECK(deliver_all(*shop->open(model)) == Numbers{"outbox:1"});
}

TEST_CASE_METHOD(Starting, "adopted: waybill init changes nothing the second time") {
  (void)place_order(*shop);
  const auto store = shop->adopt(model);
  const Event held = claim_soon(*store).at(0);
  (void)shop->open(model, OpenMode::create);
  CHECK(succeed(*store, held) == SettleStatus::applied);
  CHECK(shop->value("SELECT status FROM outbox") == "SENT");
}

TEST_CASE_METHOD(OnServers, "adopted: an ENUM that lacks a status value is told") {
  shop->run(
      "CREATE TABLE job (id BIGINT PRIMARY KEY AUTO_INCREMENT, body JSON, state ENUM('new', 'sent') NOT NULL "
      "DEFAULT 'new', KEY (state))");
  TableModel model;
  model.table = "job";
  model.columns = {{"event_payload", "body"}, {"publish_status", "state"}};
  model.status = {{"new"}, {}, {}, {"done"}, {}, {}, true};
  CHECK_THAT(refusal(ErrorCode::schema, [&] { (void)shop->adopt(model); }),
             Contains("its column 'state' can't be 'done': it is enum('new','sent')"));
  model.status.succeeded = {"sent"};
  const auto store = shop->adopt(model);
  shop->run("INSERT INTO job (body) VALUES ('{}')");
  CHECK(deliver_all(*store) == Numbers{"job:1"});
  CHECK(shop->value("SELECT state FROM job") == "sent");
}

TEST_CASE_METHOD(OnServers, "adopted: an ENUM in capitals takes its values as they are written") {
  shop->run(
      "CREATE TABLE job (id BIGINT PRIMARY KEY AUTO_INCREMENT, body JSON, state ENUM('NEW', 'SENT') NOT NULL "
      "DEFAULT 'NEW', KEY (state))");
  TableModel model;
  model.table = "job";
  model.columns = {{"event_payload", "body"}, {"publish_status", "state"}};
  model.status = {{"NEW"}, {}, {}, {"SENT"}, {}, {}, true};
  const auto store = shop->adopt(model);
  shop->run("INSERT INTO job (body) VALUES ('{}')");
  CHECK(deliver_all(*store) == Numbers{"job:1"});
}

TEST_CASE_METHOD(OnServers,
                 "adopted: a time in a column of another type is refused, a DATETIME and a TIMESTAMP are read") {
  shop->run(
      "CREATE TABLE job (id BIGINT PRIMARY KEY AUTO_INCREMENT, body JSON, state INT NOT NULL DEFAULT 0, "
      "made BIGINT NOT NULL DEFAULT 0, born DATETIME DEFAULT CURRENT_TIMESTAMP, seen TIMESTAMP DEFAULT "
      "CURRENT_TIMESTAMP, KEY (state))");
  TableModel model;
  model.table = "job";
  model.columns = {{"event_payload", "body"}, {"publish_status", "state"}, {"create_time", "made"}};
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  CHECK_THAT(
      refusal(ErrorCode::schema, [&] { (void)shop->adopt(model); }),
      Contains("its column 'made' is of type bigint") && Contains("a create_time must be DATETIME or TIMESTAMP"));
  shop->run("INSERT INTO job (body) VALUES ('{}')");
  for (const char* column : {"born", "seen"}) {
    INFO(column);
    model.columns["create_time"] = column;
    const auto store = shop->adopt(model);
    CHECK(std::chrono::abs(store->find("job:1")->create_time - store->now()) < 10min);
  }
}

TEST_CASE_METHOD(OnServers, "adopted: DATETIMEs of another time zone are read and written as the model says") {
  shop->run(
      "CREATE TABLE job (id BIGINT PRIMARY KEY AUTO_INCREMENT, body JSON, state INT NOT NULL DEFAULT 0, born "
      "DATETIME NOT NULL, done DATETIME, KEY (state))");
  TableModel model;
  model.table = "job";
  model.columns = {
      {"event_payload", "body"}, {"publish_status", "state"}, {"create_time", "born"}, {"published_time", "done"}};
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  model.time_zone = "+08:00";
  const auto store = shop->adopt(model);
  shop->run("SET time_zone = '+08:00'");
  shop->run("INSERT INTO job (body, born) VALUES ('{}', NOW())");
  CHECK(std::chrono::abs(store->find("job:1")->create_time - store->now()) < 10min);
  CHECK(deliver_all(*store) == Numbers{"job:1"});
  CHECK(shop->value("SELECT ABS(TIMESTAMPDIFF(MINUTE, done, NOW())) < 10 FROM job") == "1");
}

#ifdef WAYBILL_WITH_MYSQL
TEST_CASE_METHOD(OnServers, "adopted: a user without the right to update the table is denied at the start") {
  create_local_message_table(*shop);
  const TableModel model = model_of("outbox");
  (void)shop->adopt(model);
  MysqlOptions options = mysql_options(Url::parse(shop->url()), {});
  options.table = model;
  options.user = "reader_of_" + options.database.substr(options.database.size() - 8);
  options.password = "s3cret";
  const std::string user = options.user + "@'%'";
  shop->run("DROP USER IF EXISTS " + user);
  shop->run("CREATE USER " + user + " IDENTIFIED BY 's3cret'");
  shop->run("GRANT SELECT, INSERT, DELETE ON " + options.database + ".* TO " + user);
  shop->run("GRANT UPDATE ON " + options.database + ".waybill_delivery TO " + user);
  const std::string text = refusal(ErrorCode::denied, [&] { (void)open_mysql(options); });
  CHECK_THAT(text, Contains("UPDATE") && Contains("outbox") && !Contains("s3cret"));
  options.mode = OpenMode::read_only;
  CHECK_NOTHROW((void)open_mysql(options)->stats({}));
  options.mode = OpenMode::read_write;
  shop->run("GRANT UPDATE ON " + options.database + ".outbox TO " + user);
  CHECK_NOTHROW((void)open_mysql(options));
  shop->run("DROP USER " + user);
}
#endif

/// The finding of that name; the test fails without one.
Finding finding_of(IEventRepository& store, const std::string& name) {
  for (const Finding& finding : store.diagnose())
    if (finding.name == name) return finding;
  FAIL("no finding " << name);
  return {};
}

TEST_CASE_METHOD(InShops, "doctor: without an index on the status it gives the CREATE INDEX, which makes it well") {
  const std::string table = GENERATE("task", "order");  // a reserved word, too
  const std::string quoted = "`" + table + "`";
  shop->run("CREATE TABLE " + quoted + " (`key` INT NOT NULL PRIMARY KEY, body TEXT, `group` INT NOT NULL)");
  TableModel model;
  model.table = table;
  model.columns = {{"event_payload", "body"}, {"publish_status", "group"}};
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  Finding finding = finding_of(*shop->adopt(model), "claim-index");
  CHECK(finding.level == Finding::Level::warning);
  CHECK_THAT(finding.detail, Contains("table '" + table + "' has no index that begins with group"));
  REQUIRE_THAT(finding.advice, Contains("CREATE INDEX"));
  CHECK_THAT(shop->log, Contains(finding.advice));  // whoever opens the store is told, too
  shop->run(finding.advice);
  shop->log.clear();
  finding = finding_of(*shop->open(model), "claim-index");
  CHECK(shop->log.empty());
  CHECK(finding.level == Finding::Level::ok);
  CHECK_THAT(finding.detail, Contains("finds new rows, in order"));
}

TEST_CASE_METHOD(InShops, "doctor: two tables with a status column can both have the index it gives") {
  for (const char* table : {"one", "two"}) {
    shop->run(std::string("CREATE TABLE ") + table + " (id INT NOT NULL PRIMARY KEY, body TEXT, status INT NOT NULL)");
    TableModel model;
    model.table = table;
    model.delivery_table = std::string(table) + "_delivery";
    model.columns = {{"event_payload", "body"}, {"publish_status", "status"}};
    model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
    CHECK_NOTHROW(shop->run(finding_of(*shop->adopt(model), "claim-index").advice));
    CHECK(finding_of(*shop->open(model), "claim-index").level == Finding::Level::ok);
  }
}

TEST_CASE_METHOD(InShops, "doctor: a text key without an order column is warned of, the seed's tables are well") {
  create_domain_event_table(*shop);
  const auto store = shop->adopt(model_of("domain_event_outbox"));
  const Finding finding = finding_of(*store, "order");
  CHECK(finding.level == Finding::Level::warning);
  CHECK_THAT(finding.detail, Contains("no column that says in which order events happened"));
  for (const Finding& one : store->diagnose())
    if (one.name != "order" && one.name != "clock") {
      INFO(one.name << ": " << one.detail);
      CHECK(one.level != Finding::Level::error);
    }
}

}  // namespace
}  // namespace waybill::test
