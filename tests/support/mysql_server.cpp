#include "support/mysql_server.hpp"

#include <cstdlib>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "support/plain_client.hpp"

namespace waybill::test {
namespace {

/// Of the server alone: the database may not be there yet.
MysqlOptions without_database(const Url& url) {
  MysqlOptions options = mysql_options(url, {});
  options.database.clear();
  return options;
}

std::vector<MysqlServer> find_servers() {
  const char* variable = std::getenv("WAYBILL_TEST_MYSQL");
  std::istringstream words(variable == nullptr ? "" : variable);
  std::vector<MysqlServer> servers;
  for (std::string word; words >> word;) {
    Url url = Url::parse(word);
    PlainClient client(without_database(url));
    const bool mariadb = client.value("SELECT VERSION()").find("MariaDB") != std::string::npos;
    servers.push_back({mariadb ? "mariadb" : "mysql", std::move(url)});
  }
  if (servers.empty())
    throw std::runtime_error(
        "WAYBILL_TEST_MYSQL names no server. `tools/test` starts two and sets it; by hand:\n"
        "  export WAYBILL_TEST_MYSQL=$(tools/mysql-server start mariadb /tmp/waybill-mariadb)");
  return servers;
}

}  // namespace

const std::vector<MysqlServer>& mysql_servers() {
  static const std::vector<MysqlServer> servers = find_servers();
  return servers;
}

struct MysqlDatabase::Impl {
  explicit Impl(const MysqlServer& server) : url(server.url), client(without_database(server.url)) {}

  void take_slot(bool full_indexes) {
    // Another schema, another name: tables of an older build are not met again.
    MysqlOptions shape;
    shape.full_indexes = full_indexes;
    const std::size_t schema = std::hash<std::string>{}(mysql_schema_sql(shape));
    const std::string prefix = "waybill_test_" + std::to_string(schema % 1000000) + "_";
    for (int slot = 1;; ++slot) {
      const std::string name = prefix + std::to_string(slot);
      if (client.value("SELECT GET_LOCK('" + name + "', 0)") != "1") continue;
      client.value("CREATE DATABASE IF NOT EXISTS " + name + " CHARACTER SET utf8mb4");
      client.value("USE " + name);
      url.path = "/" + name;
      return;
    }
  }

  void empty_tables() {
    for (const char* table : {"biz_outbox_event", "biz_outbox_event_archive", "biz_event_inbox", "waybill_counter",
                              "biz_message_event", "waybill_message_delivery"})
      client.value(std::string("DELETE FROM ") + table);
    client.value("DELETE FROM waybill_note WHERE name NOT LIKE 'table of %'");
  }

  Url url;
  PlainClient client;
  MysqlOptions options;
};

MysqlDatabase::MysqlDatabase(const MysqlServer& server, bool full_indexes) : impl_(std::make_unique<Impl>(server)) {
  impl_->take_slot(full_indexes);
  impl_->options = mysql_options(impl_->url, {});
  impl_->options.full_indexes = full_indexes;
  MysqlOptions creating = impl_->options;
  creating.mode = OpenMode::create;
  (void)open_mysql(creating);
  impl_->empty_tables();
}

MysqlDatabase::~MysqlDatabase() = default;

const MysqlOptions& MysqlDatabase::options() const { return impl_->options; }

std::string MysqlDatabase::url() const { return impl_->url.to_string(); }

void MysqlDatabase::run(const std::string& sql) { impl_->client.value(sql); }

std::string MysqlDatabase::value(const std::string& sql) { return impl_->client.value(sql); }

}  // namespace waybill::test
