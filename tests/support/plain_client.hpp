#pragma once
// A client of the tests' own, on purpose not through the code under test.

#include <mysql.h>

#include <string>

#include "waybill/backends/mysql.hpp"

namespace waybill::test {

struct PlainOptions {
  unsigned long flags{0};  ///< CLIENT_FOUND_ROWS and the like
  const char* charset{"utf8mb4"};
};

/// One connection, thread-confined. Failures but those of attempt() throw std::runtime_error.
class PlainClient {
 public:
  explicit PlainClient(const MysqlOptions& options, const PlainOptions& plain = {});
  ~PlainClient();
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;

  [[nodiscard]] MYSQL* handle() const noexcept { return handle_; }
  void run(const std::string& sql) { (void)value(sql); }
  /// The first column of the first row, or "".
  std::string value(const std::string& sql);
  /// The server's error number; 0: it went well.
  unsigned attempt(const std::string& sql);

 private:
  [[noreturn]] void fail(const std::string& doing) const;
  MYSQL* handle_;
};

/// One statement on a connection of its own.
std::string value_of(const MysqlOptions& options, const std::string& sql);

}  // namespace waybill::test
