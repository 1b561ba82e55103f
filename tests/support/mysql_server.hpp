#pragma once
// The MySQL and MariaDB servers that tests run against, and databases on them.

#include <memory>
#include <string>
#include <vector>

#include "waybill/backends/mysql.hpp"
#include "waybill/url.hpp"

namespace waybill::test {

struct MysqlServer {
  std::string name;  ///< `mariadb` or `mysql`, as the server says
  Url url;           ///< of a user who may create databases and kill connections
};

/// Those that WAYBILL_TEST_MYSQL names: URLs separated by blanks. Throws when it names none or one does not answer: a
/// test without its server fails.
[[nodiscard]] const std::vector<MysqlServer>& mysql_servers();

/// A database of one test, with the tables of `waybill init` and no rows. Databases are used again by later processes,
/// because making tables takes a hundred times as long as emptying them; a lock on the server keeps two from having the
/// same one.
class MysqlDatabase {
 public:
  explicit MysqlDatabase(const MysqlServer& server, bool full_indexes = false);
  ~MysqlDatabase();
  MysqlDatabase(const MysqlDatabase&) = delete;
  MysqlDatabase& operator=(const MysqlDatabase&) = delete;

  [[nodiscard]] const MysqlOptions& options() const;
  /// For the command line.
  [[nodiscard]] std::string url() const;
  /// Runs a statement as the administrator in this database.
  void run(const std::string& sql);
  /// The first column of the first row, or "".
  [[nodiscard]] std::string value(const std::string& sql);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waybill::test
