#include "sqlite/sqlite_errors.hpp"

#include <sqlite3.h>

#include <array>

namespace waybill::sqlite {
namespace {

struct Row {
  int code;
  ErrorCode meaning;
  const char* advice;
};

// Extended codes come first: the first row that fits decides.
constexpr std::array<Row, 22> kRows{{
    {SQLITE_IOERR_FSYNC, ErrorCode::outcome_unknown,
     "the disk refused to sync; what was committed last is not certain"},
    {SQLITE_IOERR_DIR_FSYNC, ErrorCode::outcome_unknown, "the disk refused to sync"},
    {SQLITE_READONLY_DBMOVED, ErrorCode::unavailable, "the file was moved or removed while open"},
    {SQLITE_BUSY, ErrorCode::busy, "another connection holds the lock; try again"},
    {SQLITE_LOCKED, ErrorCode::busy, "another statement holds the lock; try again"},
    {SQLITE_FULL, ErrorCode::full, "no room on the disk; free some and try again, nothing was written"},
    {SQLITE_CORRUPT, ErrorCode::corrupt, "the file is damaged; restore it, or open it with recover=quarantine"},
    {SQLITE_NOTADB, ErrorCode::corrupt,
     "the file is no SQLite database; restore it, or open it with recover=quarantine"},
    {SQLITE_READONLY, ErrorCode::denied, "the file or its folder is read-only"},
    {SQLITE_PERM, ErrorCode::denied, "no permission"},
    {SQLITE_AUTH, ErrorCode::denied, "no permission"},
    {SQLITE_CANTOPEN, ErrorCode::unavailable, "check the path, its folder and the permissions"},
    {SQLITE_IOERR, ErrorCode::unavailable, "the disk failed; check it and the kernel's log"},
    {SQLITE_PROTOCOL, ErrorCode::busy, "the WAL is being set up by another process; try again"},
    {SQLITE_NOMEM, ErrorCode::unavailable, "out of memory"},
    {SQLITE_INTERRUPT, ErrorCode::busy, "interrupted"},
    {SQLITE_SCHEMA, ErrorCode::schema, "the tables changed; run `waybill doctor`"},
    {SQLITE_CONSTRAINT, ErrorCode::invalid, "a rule of the table is broken"},
    {SQLITE_TOOBIG, ErrorCode::invalid, "the value is too big for SQLite"},
    {SQLITE_MISMATCH, ErrorCode::invalid, "the value has the wrong type"},
    {SQLITE_RANGE, ErrorCode::invalid, "a parameter does not exist"},
    {SQLITE_ERROR, ErrorCode::schema, "the tables are not what waybill expects; run `waybill doctor`"},
}};

const Row* find_row(int extended_code) noexcept {
  for (const Row& row : kRows)
    if (row.code == extended_code || row.code == (extended_code & 0xff)) return &row;
  return nullptr;
}

}  // namespace

ErrorCode error_code_of(int extended_code) noexcept {
  const Row* row = find_row(extended_code);
  return row == nullptr ? ErrorCode::unavailable : row->meaning;
}

void throw_error(int extended_code, const std::string& doing, const std::string& message) {
  const Row* row = find_row(extended_code);
  std::string text = doing + ": " + message;
  if (row != nullptr) text += std::string(" (") + row->advice + ")";
  throw StorageError(error_code_of(extended_code), text);
}

void throw_last_error(sqlite3* db, const std::string& doing) {
  throw_error(sqlite3_extended_errcode(db), doing, sqlite3_errmsg(db));
}

}  // namespace waybill::sqlite
