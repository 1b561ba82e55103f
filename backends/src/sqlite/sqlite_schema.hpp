#pragma once
// Tables: creating, migrating, checking.

#include "sqlite/sqlite_connection.hpp"

namespace waybill::sqlite {

/// Runs the migrations that are missing, in one transaction. Idempotent. Throws `schema` for a future version.
void migrate(Statements& statements, bool full_indexes, Timestamp now);
/// Throws StorageError `schema`, with what to do, unless the tables are there and current. `where` names the file.
void require_current(Statements& statements, const std::string& where);
/// The index that ordered claims use, on the table that `statements` are about.
void ensure_order_index(Statements& statements);
/// Statements without parameters, joined by ';'.
void run_script(Statements& statements, std::string_view script, const std::string& doing);
/// The index that rollup() uses.
void ensure_create_time_index(Statements& statements);
[[nodiscard]] bool has_index(Statements& statements, std::string_view name);
/// Migrations that have run here; 0 when there is no table of ours.
[[nodiscard]] std::int64_t schema_version(Statements& statements);
/// Migrations this build knows.
[[nodiscard]] std::int64_t newest_version() noexcept;

}  // namespace waybill::sqlite
