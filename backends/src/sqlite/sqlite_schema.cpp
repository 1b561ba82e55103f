#include "sqlite/sqlite_schema.hpp"

#include "sqlite/sqlite_adopted.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;

bool exists(Statements& statements, std::string_view query, std::string_view name) {
  const Query found(statements.get(query));
  found->bind(1, name);
  return found->step() && found->integer(0) != 0;
}

[[noreturn]] void refuse_future(std::int64_t found, const std::string& where) {
  throw StorageError(ErrorCode::schema, where + " has schema version " + std::to_string(found) +
                                            ", this waybill knows " + std::to_string(newest_version()) +
                                            "; use a newer waybill");
}

}  // namespace

void run_script(Statements& statements, std::string_view script, const std::string& doing) {
  if (sqlite3_exec(statements.db(), std::string(script).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw_last_error(statements.db(), doing);
}

std::int64_t newest_version() noexcept { return static_cast<std::int64_t>(texts::kSchema.size()); }

bool has_index(Statements& statements, std::string_view name) { return exists(statements, texts::has_index, name); }

std::int64_t schema_version(Statements& statements) {
  if (!exists(statements, texts::has_table, "waybill_schema")) return 0;
  return statements.integer(texts::schema_version);
}

void migrate(Statements& statements, bool full_indexes, Timestamp now) {
  WriteTransaction transaction(statements);
  const std::int64_t found = schema_version(statements);
  if (found > newest_version()) refuse_future(found, "the store");
  run_script(statements, texts::create_version_table, "migrate");
  for (auto version = found + 1; version <= newest_version(); ++version) {
    const auto& step = texts::kSchema[static_cast<std::size_t>(version - 1)];
    run_script(statements, step.text, "migrate " + std::string(step.name));
    const Query record(statements.get(texts::record_migration));
    record->bind(1, version).bind(2, step.name).bind(3, now).run();
  }
  if (full_indexes) run_script(statements, texts::full_indexes, "create indexes");
  transaction.commit();
}

void require_current(Statements& statements, const std::string& where) {
  const std::int64_t found = schema_version(statements);
  if (found == newest_version()) return;
  if (found > newest_version()) refuse_future(found, where);
  if (found == 0)
    throw StorageError(ErrorCode::schema, where + " has no waybill tables; create them with `waybill init`");
  throw StorageError(ErrorCode::schema, where + " has schema version " + std::to_string(found) +
                                            ", this waybill needs " + std::to_string(newest_version()) +
                                            "; bring it up to date with `waybill init`");
}

void ensure_order_index(Statements& statements) {
  const std::string script = statements.texts().render(texts::order_index);
  if (!has_index(statements, statements.texts().render("idx_outbox_order")))
    run_script(statements, script, "create the order index");
}

void ensure_create_time_index(Statements& statements) {
  if (has_index(statements, "idx_create_time")) return;
  run_script(statements, texts::create_time_index, "create the index of days");
}

}  // namespace waybill::sqlite

namespace waybill {

std::string sqlite_schema_sql(const SqliteOptions& options) {
  // The plain client creates what a fresh file gets from `init`.
  std::string text = "PRAGMA auto_vacuum = incremental;\nPRAGMA journal_mode = WAL;\nBEGIN IMMEDIATE;\n\n";
  text += std::string(sql::sqlite::create_version_table) + ";\n\n";
  std::size_t version = 0;
  for (const auto& step : sql::sqlite::kSchema) {
    ++version;
    text += std::string(step.text) + "\n\nINSERT INTO waybill_schema (version, name, applied)\nVALUES (" +
            std::to_string(version) + ", '" + std::string(step.name) + "', unixepoch() * 1000000);\n\n";
  }
  const auto add_delivery = [&](const TableModel& model, const std::string& script) {
    text += script + "\n\n" + backends::AdoptedTable::note_sql(model) + ";\n\n";
  };
  constexpr std::string_view create = sql::sqlite::create_delivery_table;
  const TableModel& message = *known_table("biz_message_event");
  add_delivery(message, backends::AdoptedTable::render_delivery(create, message));
  if (options.table && options.table->table != message.table) {
    sqlite::Connection connection(options);  // the delivery table has a key of the same type
    add_delivery(*options.table, sqlite::read_table(connection.statements(), *options.table).render_delivery(create));
  }
  if (options.full_indexes) text += std::string(sql::sqlite::full_indexes) + "\n\n";
  return text + "COMMIT;\n";
}

}  // namespace waybill
