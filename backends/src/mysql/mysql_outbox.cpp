// Appending, and remembering what was consumed, within the caller's transaction.

#include "waybill/backends/mysql_outbox.hpp"

#include "mysql/mysql_connection.hpp"
#include "mysql/mysql_schema.hpp"
#include "mysql/mysql_writer.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill {
namespace {

namespace texts = sql::mysql;

/// One name for all: a further one takes the place of the one before, and the last goes with the transaction.
constexpr std::string_view kSavepoint = "SAVEPOINT waybill_append";
constexpr std::string_view kBackToSavepoint = "ROLLBACK TO SAVEPOINT waybill_append";

// Bits of the protocol, which both libraries keep in their structures but name in different headers.
constexpr unsigned kInTransaction = 1;
constexpr unsigned kAutocommit = 2;

void require_transaction(MYSQL* connection, const char* what) {
  const unsigned status = connection->server_status;
  if ((status & kInTransaction) != 0 || (status & kAutocommit) == 0) return;
  throw StorageError(ErrorCode::invalid,
                     std::string(what) +
                         ": no transaction is open on this connection; begin one (START TRANSACTION), write your data "
                         "and this in it, and commit both");
}

void execute(MYSQL* connection, std::string_view sql, const char* doing) {
  if (mysql_real_query(connection, sql.data(), static_cast<unsigned long>(sql.size())) != 0)
    mysql::throw_last_error(connection, doing);
}

void require_utf8mb4(MYSQL* connection) {
  const std::string_view name = mysql_character_set_name(connection);
  if (name != "utf8mb4")
    throw StorageError(ErrorCode::invalid, "the connection's character set is " + std::string(name) +
                                               ", which can't carry every event; call mysql_set_character_set(mysql, "
                                               "\"utf8mb4\") after connecting");
}

}  // namespace

struct MysqlOutbox::Impl {
  MYSQL* connection;
  mysql::Statements statements;
  Options options;
  std::optional<mysql::InsertFacts> facts{};
  bool lost{false};  ///< the server took the caller's transaction away

  /// An append that fails leaves nothing behind, so that the caller's transaction may go on without it.
  void undo() noexcept {
    try {
      execute(connection, kBackToSavepoint, "append");
    } catch (const StorageError&) {
      lost = true;
    }
  }
};

MysqlOutbox::MysqlOutbox(MYSQL* connection, Options options)
    : impl_(std::make_unique<Impl>(Impl{connection, mysql::Statements(connection), options})) {
  require_utf8mb4(connection);
  mysql::require_current(impl_->statements, "this database");
  impl_->facts.emplace(impl_->statements);
}

MysqlOutbox::~MysqlOutbox() = default;
MysqlOutbox::MysqlOutbox(MysqlOutbox&&) noexcept = default;
MysqlOutbox& MysqlOutbox::operator=(MysqlOutbox&&) noexcept = default;

AppendResult MysqlOutbox::append(const NewEvent& event) { return append(std::span(&event, 1)).front(); }

std::vector<AppendResult> MysqlOutbox::append(std::span<const NewEvent> events) {
  Impl& impl = *impl_;
  if (impl.lost)
    throw StorageError(ErrorCode::invalid,
                       "append: a deadlock or a broken connection has rolled this transaction back; roll back, call "
                       "rolled_back() and begin again with everything that was in it");
  require_transaction(impl.connection, "append");
  require_valid(events, impl.options.limits);
  if (events.empty()) return {};
  mysql::BatchWriter batch(events, *impl.facts);
  execute(impl.connection, kSavepoint, "append");
  // Once more: a failure (a deadlock in a statement of the caller's) says nothing of the transaction, an answer does.
  require_transaction(impl.connection, "append");
  try {
    return batch.run(impl.statements);
  } catch (const mysql::ServerError& error) {
    impl.lost = error.number() == mysql::kDeadlock || mysql::breaks_connection(error.number());
    if (!impl.lost) impl.undo();
    throw;
  } catch (const StorageError&) {
    impl.undo();
    throw;
  }
}

void MysqlOutbox::rolled_back() noexcept { impl_->lost = false; }

struct MysqlInbox::Impl {
  MYSQL* connection;
  mysql::Statements statements;
};

MysqlInbox::MysqlInbox(MYSQL* connection)
    : impl_(std::make_unique<Impl>(Impl{connection, mysql::Statements(connection)})) {
  require_utf8mb4(connection);
  mysql::require_current(impl_->statements, "this database");
}

MysqlInbox::~MysqlInbox() = default;

bool MysqlInbox::consume_once(std::string_view consumer, std::string_view event_no) {
  // Asked afresh: after a failure (a deadlock in a statement of the caller's) the library does not know.
  execute(impl_->connection, "DO 0", "consume_once");
  require_transaction(impl_->connection, "consume_once");
  try {
    return impl_->statements.get(texts::inbox_add).add(consumer).add(event_no).run() == 1;
  } catch (const mysql::ServerError& error) {
    if (error.number() != mysql::kDuplicateEntry) throw;
    return false;  // the server undid this statement only
  }
}

std::size_t MysqlInbox::forget(Timestamp before, std::size_t limit) {
  return impl_->statements.get(texts::inbox_forget).add(before).add(static_cast<std::int64_t>(limit)).run();
}

}  // namespace waybill
