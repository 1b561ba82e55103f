// Who may log in, and what he may do then.

#include "mysql/mysql_fixture.hpp"

namespace waybill::test {
namespace {

TEST_CASE_METHOD(OnPrivateServers, "a wrong password is denied, and not repeated in the text", "[rights]") {
  MysqlOptions user = user_with("SELECT");
  user.user = "waybill";
  CHECK(is(error_of([&] { (void)open_mysql(user); }), ErrorCode::denied, {"waybill", "check user and password"}));
}

TEST_CASE_METHOD(OnPrivateServers, "a database that is not there, or has no tables, is told what it lacks",
                 "[rights]") {
  options.database = "nowhere";
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::create}) {
    options.mode = mode;
    CHECK(is(error_of([&] { (void)open(); }), ErrorCode::schema, {"nowhere", "CREATE DATABASE"}));
  }
  options = server.new_database(false);
  CHECK(is(error_of([&] { (void)open(); }), ErrorCode::schema, {options.database, "waybill init"}));
  value("CREATE TABLE waybill_schema (version INT PRIMARY KEY, name VARCHAR(64))");
  value("INSERT INTO waybill_schema VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')");
  const auto store = open();
  CHECK(is(error_of([&] { (void)store->claim(claim_request()); }), ErrorCode::schema, {"waybill init"}));
}

TEST_CASE_METHOD(OnPrivateServers, "a user without a right to make tables delivers, and is denied init", "[rights]") {
  const std::string tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()";
  const std::string before = value(tables);
  MysqlOptions user = user_with("SELECT, INSERT, UPDATE, DELETE");
  deliver_one(*open_mysql(user), "e1");
  user.mode = OpenMode::create;
  CHECK(is(error_of([&] { (void)open_mysql(user); }), ErrorCode::denied, {user.user, "CREATE, ALTER and INDEX"}));
  CHECK(value(tables) == before);
  user.mode = OpenMode::read_write;
  deliver_one(*open_mysql(user), "e2");

  options = server.new_database(false);
  MysqlOptions stranger = user_with("SELECT, INSERT, UPDATE, DELETE");
  stranger.mode = OpenMode::create;
  CHECK(is(error_of([&] { (void)open_mysql(stranger); }), ErrorCode::denied, {stranger.user}));
  CHECK(value(tables) == "0");
}

TEST_CASE_METHOD(OnPrivateServers, "a user without INSERT is denied append, and may go on with the rest", "[rights]") {
  const auto store = open_mysql(user_with("SELECT, UPDATE, DELETE"));
  REQUIRE(append(*open(), make_event("e1")) == AppendStatus::inserted);
  const NewEvent event = make_event("e2");
  CHECK(is(error_of([&] { (void)store->append({&event, 1}); }), ErrorCode::denied, {"INSERT", "biz_outbox_event"}));
  const std::vector<Event> events = store->claim(claim_request()).events;
  REQUIRE(numbers_of(events) == Numbers{"e1"});
  CHECK(settle(*store, settlement_of(events.front(), Command::succeed)) == SettleStatus::applied);
}

TEST_CASE_METHOD(OnPrivateServers, "a user without any right on the database is denied", "[rights]") {
  const MysqlOptions user = user_with("");
  CHECK(is(error_of([&] { (void)open_mysql(user); }), ErrorCode::denied, {options.database, "GRANT"}));
}

}  // namespace
}  // namespace waybill::test
