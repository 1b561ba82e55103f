#pragma once
// A plain connection for what is measured beside the store, and the databases of a run.

#include <mysql.h>

#include <memory>
#include <string>
#include <vector>

#include "waybill/url.hpp"

namespace waybill::bench {

[[nodiscard]] bool is_mysql(const Url& url) noexcept;

/// Thread-confined. Every method throws std::runtime_error.
class MysqlClient {
 public:
  /// Without a database when the URL's path is empty.
  explicit MysqlClient(const Url& url);

  using Row = std::vector<std::string>;  ///< NULL is empty
  std::vector<Row> query(const std::string& sql);
  void run(const std::string& sql) { static_cast<void>(query(sql)); }
  /// In quotes, escaped; `NULL` when not set.
  [[nodiscard]] std::string quoted(const std::string& text);
  [[nodiscard]] std::uint64_t changed() const noexcept { return mysql_affected_rows(handle_.get()); }

 private:
  struct Close {
    void operator()(MYSQL* mysql) const noexcept { mysql_close(mysql); }
  };
  std::unique_ptr<MYSQL, Close> handle_;
};

/// The databases of one run, on the server of the store's URL; dropped with the object.
class MysqlDatabases {
 public:
  explicit MysqlDatabases(Url url) : url_(std::move(url)) {}
  ~MysqlDatabases();
  MysqlDatabases(const MysqlDatabases&) = delete;
  MysqlDatabases& operator=(const MysqlDatabases&) = delete;

  /// The store's URL with the database that stands for that file.
  [[nodiscard]] Url url_of(const std::string& file) const;
  void create(const std::string& file);
  void drop(const std::string& file) noexcept;
  [[nodiscard]] bool is_mariadb();
  [[nodiscard]] std::string version();
  /// innodb_flush_log_at_trx_commit and whether there is a binary log.
  [[nodiscard]] std::string flush_setting();

 private:
  [[nodiscard]] static std::string name_of(const std::string& file);
  [[nodiscard]] MysqlClient admin() const;

  Url url_;
  std::vector<std::string> made_;
};

}  // namespace waybill::bench
