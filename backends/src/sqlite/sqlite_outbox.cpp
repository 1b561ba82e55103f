// Appending within the caller's transaction.

#include <sqlite3.h>

#include "sqlite/sqlite_connection.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_schema.hpp"
#include "sqlite/sqlite_writer.hpp"

namespace waybill {
namespace {

std::shared_ptr<const IClock> clock_or_system(std::shared_ptr<const IClock> clock) {
  return clock != nullptr ? std::move(clock) : std::make_shared<const SystemClock>();
}

void require_transaction(sqlite3* db, const char* what) {
  if (sqlite3_get_autocommit(db) == 0) return;
  throw StorageError(ErrorCode::invalid,
                     std::string(what) +
                         ": no transaction is open on this connection; begin one (BEGIN IMMEDIATE), write "
                         "your data and this in it, and commit both");
}

void delete_busy_handler(void* handler) { delete static_cast<sqlite::BusyHandler*>(handler); }

}  // namespace

struct SqliteOutbox::Impl {
  sqlite::Statements statements;
  Options options;
};

SqliteOutbox::SqliteOutbox(sqlite3* connection, Options options)
    : impl_(std::make_unique<Impl>(Impl{sqlite::Statements(connection), std::move(options)})) {
  impl_->options.clock = clock_or_system(std::move(impl_->options.clock));
  sqlite::require_current(impl_->statements, "this database");
}

SqliteOutbox::~SqliteOutbox() = default;
SqliteOutbox::SqliteOutbox(SqliteOutbox&&) noexcept = default;
SqliteOutbox& SqliteOutbox::operator=(SqliteOutbox&&) noexcept = default;

AppendResult SqliteOutbox::append(const NewEvent& event) { return append(std::span(&event, 1)).front(); }

std::vector<AppendResult> SqliteOutbox::append(std::span<const NewEvent> events) {
  const Options& options = impl_->options;
  require_transaction(impl_->statements.db(), "append");
  require_valid(events, options.limits);
  const sqlite::Bounds bounds{options.max_events, options.max_bytes, options.on_full};
  return sqlite::append_events(impl_->statements, events, bounds, options.clock->now()).results;
}

void SqliteOutbox::configure(sqlite3* connection, Duration busy_timeout) {
  // The handler must live as long as the connection: the connection's client data would be the place, but SQLite has
  // that only since 3.44. A function with a destructor, called when the connection closes, serves as well.
  auto handler = std::make_unique<sqlite::BusyHandler>(busy_timeout);
  sqlite::BusyHandler* raw = handler.release();
  const auto nothing = [](sqlite3_context* context, int, sqlite3_value**) { sqlite3_result_null(context); };
  if (sqlite3_create_function_v2(connection, "waybill_busy_handler", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, raw, nothing,
                                 nullptr, nullptr, &delete_busy_handler) != SQLITE_OK)
    sqlite::throw_last_error(connection, "configure");
  raw->install(connection);
  for (const char* pragma : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0"})
    if (sqlite3_exec(connection, pragma, nullptr, nullptr, nullptr) != SQLITE_OK)
      sqlite::throw_last_error(connection, "configure");
}

}  // namespace waybill
