#include "mysql/mysql_fixture.hpp"

#include <ostream>

namespace waybill::test {
namespace {

constexpr const char* kSecret = "s3cret of it";

const MysqlServer& each_shared() {
  const std::size_t count = mysql_servers().size();
  return mysql_servers()[GENERATE_COPY(range(std::size_t{0}, count))];
}

PrivateServer& each_private() { return private_server(GENERATE(as<std::string>{}, "mariadb", "mysql9")); }

}  // namespace

NewEvent make_event(std::string event_no) {
  NewEvent event;
  event.aggregate_id = "id-" + event_no;
  event.event_no = std::move(event_no);
  event.aggregate_type = "ORDER";
  event.event_type = "ORDER_CREATED";
  event.topic = "order.event";
  event.event_payload = R"({"amount":199})";
  return event;
}

std::vector<NewEvent> make_events(const std::string& prefix, int count) {
  std::vector<NewEvent> events;
  for (int at = 1; at <= count; ++at) events.push_back(make_event(prefix + std::to_string(at)));
  return events;
}

AppendStatus append(IEventRepository& store, const NewEvent& event) {
  const std::vector<AppendResult> results = store.append({&event, 1});
  REQUIRE(results.size() == 1);
  return results.front().status;
}

Event claimed(IEventRepository& store, const std::string& event_no) {
  REQUIRE(append(store, make_event(event_no)) == AppendStatus::inserted);
  const std::vector<Event> events = store.claim(claim_request()).events;
  REQUIRE(numbers_of(events) == Numbers{event_no});
  return events.front();
}

void deliver_one(IEventRepository& store, const std::string& event_no) {
  const Event event = claimed(store, event_no);
  REQUIRE(settle(store, settlement_of(event, Command::succeed)) == SettleStatus::applied);
  const std::optional<Event> found = store.find(event_no);
  REQUIRE(found.has_value());
  REQUIRE(found->publish_status == Status::succeeded);
}

bool is(const std::optional<StorageError>& error, ErrorCode code, std::initializer_list<std::string> named) {
  if (!error) {
    UNSCOPED_INFO("no error");
    return false;
  }
  UNSCOPED_INFO(to_string(error->code()) << ": " << error->what());
  const std::string text = error->what();
  if (text.find(kSecret) != std::string::npos) return false;
  for (const std::string& name : named)
    if (text.find(name) == std::string::npos) return false;
  return error->code() == code;
}

OnSharedServers::OnSharedServers()
    : server_(each_shared()),
      database(server_),
      name_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
            << "server: " << server_.name) {}

MysqlOptions OnSharedServers::options_by(std::uint16_t port) const {
  MysqlOptions options = database.options();
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = MysqlTls::off;
  return options;
}

void OnSharedServers::prepare_for_locks() {
  database.run("TRUNCATE TABLE biz_outbox_event");
  database.run("CREATE TABLE IF NOT EXISTS shop_order (id INT PRIMARY KEY, note VARCHAR(100)) ENGINE=InnoDB");
  database.run("TRUNCATE TABLE shop_order");
}

OnPrivateServers::OnPrivateServers()
    : server(each_private()),
      options(server.new_database()),
      name_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
            << "server: " << server.kind()) {}

MysqlOptions OnPrivateServers::user_with(const std::string& rights) {
  MysqlOptions user = options;
  user.user = "user_of_" + options.database;
  user.password = kSecret;
  value("CREATE USER " + user.user + "@'%' IDENTIFIED BY '" + user.password + "'");
  if (!rights.empty()) value("GRANT " + rights + " ON " + options.database + ".* TO " + user.user + "@'%'");
  return user;
}

}  // namespace waybill::test
