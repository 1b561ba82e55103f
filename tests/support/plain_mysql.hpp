#pragma once
// SQL as somebody else's program sends it, through the C API and none of waybill's code.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "waybill/backends/mysql.hpp"

struct st_mysql;

namespace waybill::test {

/// What a statement brought. Columns by name; NULL is "NULL".
struct SqlAnswer {
  std::vector<std::map<std::string, std::string>> rows;
  std::uint64_t affected{0};  ///< rows that were changed

  [[nodiscard]] std::vector<std::string> column(const std::string& name) const;
};

/// A connection in UTC with automatic commit. Thread-compatible. Every failure is a std::runtime_error.
class PlainMysql {
 public:
  /// Where the options say; nothing but host, port, user, password and database is used.
  explicit PlainMysql(const MysqlOptions& options);
  ~PlainMysql();
  PlainMysql(const PlainMysql&) = delete;
  PlainMysql& operator=(const PlainMysql&) = delete;

  SqlAnswer run(const std::string& sql);
  /// The first column of the first row, or "".
  std::string value(const std::string& sql);

 private:
  [[noreturn]] void fail(const std::string& doing) const;
  st_mysql* handle_;
};

}  // namespace waybill::test
