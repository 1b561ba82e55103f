#pragma once
// What the tests of this folder start from: a database on each server in turn.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mysql/private_server.hpp"
#include "support/catch.hpp"
#include "support/mysql_server.hpp"
#include "support/plain_client.hpp"
#include "support/store_calls.hpp"
#include "waybill/backends/mysql.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::test {

using namespace std::chrono_literals;

/// An event of its own aggregate.
[[nodiscard]] NewEvent make_event(std::string event_no);
/// PREFIX1 … PREFIXn.
[[nodiscard]] std::vector<NewEvent> make_events(const std::string& prefix, int count);

AppendStatus append(IEventRepository& store, const NewEvent& event);
/// Appends an event and claims it; nothing else may be claimable.
[[nodiscard]] Event claimed(IEventRepository& store, const std::string& event_no);
/// One event from append to succeed: the store works.
void deliver_one(IEventRepository& store, const std::string& event_no);

/// The StorageError that it throws, if it does.
template <class Work>
std::optional<StorageError> error_of(Work work) {
  try {
    work();
  } catch (const StorageError& error) {
    return error;
  }
  return std::nullopt;
}

/// True when the error has this code, and its text names each of these and no password of user_with().
[[nodiscard]] bool is(const std::optional<StorageError>& error, ErrorCode code,
                      std::initializer_list<std::string> named = {});

/// Use with TEST_CASE_METHOD: the test runs once per shared server, for what disturbs nobody.
class OnSharedServers {
 protected:
  OnSharedServers();
  [[nodiscard]] std::unique_ptr<IEventRepository> open() const { return open_mysql(database.options()); }
  /// The options by way of a proxy, which must read what passes.
  [[nodiscard]] MysqlOptions options_by(std::uint16_t port) const;
  /// Deleted rows of earlier tests that the server still keeps would draw locks upon themselves: away with them. Also
  /// makes shop_order, empty.
  void prepare_for_locks();

 private:
  const MysqlServer& server_;

 protected:
  MysqlDatabase database;

 private:
  Catch::ScopedMessage name_;
};

/// Use with TEST_CASE_METHOD: the test runs once per kind of server, each the program's own.
class OnPrivateServers {
 protected:
  OnPrivateServers();
  [[nodiscard]] std::unique_ptr<IEventRepository> open() const { return open_mysql(options); }
  /// A user with these rights on the tables of `options`, from GRANT to ON.
  [[nodiscard]] MysqlOptions user_with(const std::string& rights);
  /// As the administrator in the database.
  std::string value(const std::string& sql) const { return value_of(options, sql); }

  PrivateServer& server;
  MysqlOptions options;

 private:
  Catch::ScopedMessage name_;
};

}  // namespace waybill::test
