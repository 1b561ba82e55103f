#pragma once
// What a program calls inside its own MySQL or MariaDB transaction. The one public header that needs <mysql.h>.

#include <mysql.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "waybill/event_repository.hpp"
#include "waybill/limits.hpp"

namespace waybill {

/// Appends within the caller's transaction: the outbox pattern. Bound to one open connection, thread-confined like it.
/// Never begins, commits or rolls back. The tables must be there (`waybill init`). The connection needs utf8mb4
/// (`SET NAMES utf8mb4`), no result may be waiting to be read, and it must outlive this object.
class MysqlOutbox {
 public:
  struct Options {
    Limits limits{};
  };
  /// Throws StorageError `schema` when the tables are not there, `invalid` for another character set.
  explicit MysqlOutbox(MYSQL* connection) : MysqlOutbox(connection, Options{}) {}
  MysqlOutbox(MYSQL* connection, Options options);
  ~MysqlOutbox();
  MysqlOutbox(MysqlOutbox&&) noexcept;
  MysqlOutbox& operator=(MysqlOutbox&&) noexcept;

  /// A duplicate or a conflict leaves the transaction as it was, and so does a failure but for the one below (by
  /// SAVEPOINT waybill_append). Throws StorageError `invalid` when no transaction is open: an event without its data is
  /// what an outbox is to prevent. Throws InvalidEvent as IDeliveryStore::append.
  ///
  /// After a deadlock (`busy`) the server has rolled the whole transaction back, and what is written next would be
  /// committed without what came before. So every further append is refused until rolled_back() is called.
  [[nodiscard]] AppendResult append(const NewEvent& event);
  [[nodiscard]] std::vector<AppendResult> append(std::span<const NewEvent> events);

  /// The caller has rolled back and begins again.
  void rolled_back() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The consumer's side: exactly-once effects. All within the caller's transaction.
class MysqlInbox {
 public:
  explicit MysqlInbox(MYSQL* connection);
  ~MysqlInbox();
  /// True the first time this consumer sees the event: do the work, then commit both. False: done before, skip it.
  [[nodiscard]] bool consume_once(std::string_view consumer, std::string_view event_no);
  /// Forgets entries older than `before`, at most `limit`; returns how many.
  [[nodiscard]] std::size_t forget(Timestamp before, std::size_t limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waybill
