#pragma once
// One connection of ours: how it is opened, what its session is set to, and when it counts as broken.

#include <chrono>
#include <memory>
#include <string>

#include "mysql/mysql_errors.hpp"
#include "mysql/mysql_statement.hpp"
#include "waybill/backends/mysql.hpp"

namespace waybill::mysql {

/// The server's time without asking each time: its distance from the steady clock, measured afresh every second.
class ServerClock {
 public:
  [[nodiscard]] Timestamp now(Statements& statements);

 private:
  Timestamp base_{};
  std::chrono::steady_clock::time_point measured_{};
};

/// Thread-confined. Closing it drops its prepared statements with it.
class Connection {
 public:
  /// Throws StorageError.
  explicit Connection(const MysqlOptions& options);

  [[nodiscard]] Statements& statements() noexcept { return statements_; }
  [[nodiscard]] MYSQL* handle() const noexcept { return handle_.get(); }
  /// A text without parameters that can't be prepared (BEGIN, SET, DDL).
  void execute(const std::string& sql);
  [[nodiscard]] bool is_mariadb() const noexcept;
  [[nodiscard]] std::string server_version() const { return mysql_get_server_info(handle_.get()); }
  /// The server's time, or the clock's of the options.
  [[nodiscard]] Timestamp now();
  /// With a clock of its own (tests): the session's UTC_TIMESTAMP() says what that clock says.
  void follow_clock();

 private:
  struct Close {
    void operator()(MYSQL* mysql) const noexcept { mysql_close(mysql); }
  };
  void connect(const MysqlOptions& options);
  void set_session(const MysqlOptions& options);

  std::shared_ptr<const IClock> clock_;
  std::unique_ptr<MYSQL, Close> handle_;
  Statements statements_;
  ServerClock server_clock_;
  Timestamp followed_{};
};

/// COMMIT was sent and its answer lost.
struct LostCommit {
  StorageError error;
};

/// BEGIN … COMMIT; rolls back when it goes out of scope before commit().
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  /// Throws LostCommit when the connection broke at it: the outcome is unknown.
  void commit();

 private:
  Connection& connection_;
  bool open_{true};
};

}  // namespace waybill::mysql
