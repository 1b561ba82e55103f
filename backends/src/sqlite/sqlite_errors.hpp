#pragma once
// SQLite's result codes -> StorageError, in one table.

#include <string>

#include "waybill/error.hpp"

struct sqlite3;

namespace waybill::sqlite {

/// What a caller does next about an (extended) result code.
[[nodiscard]] ErrorCode error_code_of(int extended_code) noexcept;
/// Throws StorageError for the connection's last error; `doing` says what was tried: "append", "open orders.db".
[[noreturn]] void throw_last_error(sqlite3* db, const std::string& doing);
[[noreturn]] void throw_error(int extended_code, const std::string& doing, const std::string& message);

}  // namespace waybill::sqlite
