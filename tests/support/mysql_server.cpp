#include "support/mysql_server.hpp"

#include <mysql.h>

#include <cstdlib>
#include <functional>
#include <sstream>
#include <stdexcept>

namespace waybill::test {
namespace {

/// A plain connection, on purpose not through the code under test.
class Client {
 public:
  explicit Client(const MysqlOptions& options) : handle_(mysql_init(nullptr)) {
    mysql_options(handle_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(handle_, options.host.c_str(), options.user.c_str(), options.password.c_str(), nullptr,
                           options.port, nullptr, 0) == nullptr)
      fail("connect");
  }
  ~Client() { mysql_close(handle_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::string value(const std::string& sql) {
    if (mysql_real_query(handle_, sql.data(), static_cast<unsigned long>(sql.size())) != 0) fail(sql);
    MYSQL_RES* result = mysql_store_result(handle_);
    if (result == nullptr) {
      if (mysql_field_count(handle_) != 0) fail(sql);
      return {};
    }
    const MYSQL_ROW row = mysql_fetch_row(result);
    std::string first = row == nullptr || row[0] == nullptr ? "" : row[0];
    mysql_free_result(result);
    return first;
  }

 private:
  [[noreturn]] void fail(const std::string& doing) const {
    throw std::runtime_error("test server: " + doing + ": " + mysql_error(handle_));
  }
  MYSQL* handle_;
};

std::vector<MysqlServer> find_servers() {
  const char* variable = std::getenv("WAYBILL_TEST_MYSQL");
  std::istringstream words(variable == nullptr ? "" : variable);
  std::vector<MysqlServer> servers;
  for (std::string word; words >> word;) {
    Url url = Url::parse(word);
    Client client(mysql_options(url, {}));
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
  explicit Impl(const MysqlServer& server) : url(server.url), client(mysql_options(server.url, {})) {}

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
      lock = name;
      return;
    }
  }

  void empty_tables() {
    for (const char* table :
         {"biz_outbox_event", "biz_outbox_event_archive", "biz_event_inbox", "waybill_counter", "waybill_note"})
      client.value(std::string("DELETE FROM ") + table);
  }

  Url url;
  Client client;
  MysqlOptions options;
  std::string lock;
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
