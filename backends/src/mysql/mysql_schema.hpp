#pragma once
// Tables: made, brought up to date, checked.

#include <cstdint>
#include <map>
#include <string>

#include "mysql/mysql_connection.hpp"

namespace waybill::mysql {

[[nodiscard]] std::int64_t newest_version() noexcept;
/// 0: no tables of ours.
[[nodiscard]] std::int64_t schema_version(Statements& statements);
/// Runs what is missing. DDL commits by itself, so every step may be repeated; two processes take turns.
void migrate(Connection& connection, const MysqlOptions& options);
/// Throws StorageError (schema) unless the tables are those of this build.
void require_current(Statements& statements, const std::string& where);
/// Name -> columns, joined by commas, of the indexes of a table.
[[nodiscard]] std::map<std::string, std::string> indexes_of(Statements& statements, std::string_view table);
/// True when idx_status_retry_time has retry_count as its third column, as in the seed.
[[nodiscard]] bool claim_index_is_the_seeds(Connection& connection);

}  // namespace waybill::mysql
