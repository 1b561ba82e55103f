#include "mysql_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "waybill/backends/mysql.hpp"

namespace waybill::bench {

bool is_mysql(const Url& url) noexcept { return url.scheme == "mysql" || url.scheme == "mariadb"; }

MysqlClient::MysqlClient(const Url& url) : handle_(mysql_init(nullptr)) {
  Url named = url;
  if (named.path.empty()) named.path = "/none";
  const MysqlOptions options = mysql_options(named, {});
  mysql_options(handle_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const bool by_socket = !options.socket.empty();
  if (mysql_real_connect(handle_.get(), by_socket ? nullptr : options.host.c_str(), options.user.c_str(),
                         options.password.c_str(), url.path.empty() ? nullptr : options.database.c_str(),
                         by_socket ? 0 : options.port, by_socket ? options.socket.c_str() : nullptr, 0) == nullptr)
    throw std::runtime_error(std::string("connect: ") + mysql_error(handle_.get()));
  run("SET time_zone = '+00:00'");
  run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
}

std::vector<MysqlClient::Row> MysqlClient::query(const std::string& sql) {
  MYSQL* mysql = handle_.get();
  if (mysql_real_query(mysql, sql.data(), static_cast<unsigned long>(sql.size())) != 0)
    throw std::runtime_error(sql.substr(0, 60) + "…: " + mysql_error(mysql));
  std::vector<Row> rows;
  const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> result(mysql_store_result(mysql), mysql_free_result);
  if (result == nullptr) return rows;
  const unsigned columns = mysql_num_fields(result.get());
  while (const MYSQL_ROW row = mysql_fetch_row(result.get())) {
    const unsigned long* lengths = mysql_fetch_lengths(result.get());
    Row& texts = rows.emplace_back(columns);
    for (unsigned column = 0; column < columns; ++column)
      if (row[column] != nullptr) texts[column].assign(row[column], lengths[column]);
  }
  return rows;
}

std::string MysqlClient::quoted(const std::string& text) {
  std::string escaped(2 * text.size() + 1, '\0');
  escaped.resize(
      mysql_real_escape_string(handle_.get(), escaped.data(), text.data(), static_cast<unsigned long>(text.size())));
  return "'" + escaped + "'";
}

MysqlDatabases::~MysqlDatabases() {
  const std::vector<std::string> left = made_;
  for (const std::string& file : left) drop(file);
}

std::string MysqlDatabases::name_of(const std::string& file) {
  std::string name = "waybill_bench_" + std::to_string(::getpid()) + "_" + std::filesystem::path(file).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

MysqlClient MysqlDatabases::admin() const {
  Url url = url_;
  url.path.clear();
  return MysqlClient(url);
}

Url MysqlDatabases::url_of(const std::string& file) const {
  Url url = url_;
  url.path = "/" + name_of(file);
  return url;
}

void MysqlDatabases::create(const std::string& file) {
  admin().run("CREATE DATABASE " + name_of(file) + " CHARACTER SET utf8mb4");
  made_.push_back(file);
}

void MysqlDatabases::drop(const std::string& file) noexcept {
  std::erase(made_, file);
  try {
    admin().run("DROP DATABASE IF EXISTS " + name_of(file));
  } catch (const std::runtime_error&) {
    // A server that is gone keeps it; the name says what it is.
  }
}

std::string MysqlDatabases::version() { return admin().query("SELECT VERSION()").front().front(); }

std::string MysqlDatabases::flush_setting() {
  const auto row = admin().query("SELECT @@innodb_flush_log_at_trx_commit, @@log_bin").front();
  return "innodb_flush_log_at_trx_commit=" + row[0] + ", log_bin=" + row[1];
}

bool MysqlDatabases::is_mariadb() { return version().find("MariaDB") != std::string::npos; }

}  // namespace waybill::bench
