// Consume once, within the consumer's transaction.

#include "sqlite/sqlite_schema.hpp"
#include "sqlite/sqlite_statement.hpp"
#include "waybill/backends/sqlite.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill {

struct SqliteInbox::Impl {
  sqlite::Statements statements;
  std::shared_ptr<const IClock> clock;
};

SqliteInbox::SqliteInbox(sqlite3* connection, std::shared_ptr<const IClock> clock)
    : impl_(std::make_unique<Impl>(Impl{sqlite::Statements(connection), std::move(clock)})) {
  if (impl_->clock == nullptr) impl_->clock = std::make_shared<const SystemClock>();
  sqlite::require_current(impl_->statements, "this database");
}

SqliteInbox::~SqliteInbox() = default;

bool SqliteInbox::consume_once(std::string_view consumer, std::string_view event_no) {
  if (sqlite3_get_autocommit(impl_->statements.db()) != 0)
    throw StorageError(
        ErrorCode::invalid,
        "consume_once: no transaction is open on this connection; begin one, do the work in it, and commit both");
  return impl_->statements.get(sql::sqlite::inbox_add)
             .bind(1, consumer)
             .bind(2, event_no)
             .bind(3, impl_->clock->now())
             .run() == 1;
}

std::size_t SqliteInbox::forget(Timestamp before, std::size_t limit) {
  sqlite::Statement& rows = impl_->statements.get(sql::sqlite::inbox_forget);
  return static_cast<std::size_t>(rows.bind(1, before).bind(2, static_cast<std::int64_t>(limit)).run());
}

}  // namespace waybill
