#include "sqlite/sqlite_connection.hpp"

#include <SQLiteCpp/Exception.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "sqlite/sqlite_errors.hpp"

namespace waybill::sqlite {
namespace {

// Beside a tight writer the lock is free for a moment between two of its transactions: who waits long looks more often,
// so that nobody waits for ever.
constexpr std::chrono::microseconds kNap{500};
constexpr std::chrono::microseconds kImpatientNap{50};
constexpr std::chrono::milliseconds kPatience{10};
constexpr std::string_view kBegin = "BEGIN IMMEDIATE";
constexpr std::string_view kBeginRead = "BEGIN";
constexpr std::string_view kCommit = "COMMIT";
constexpr std::string_view kRollback = "ROLLBACK";
constexpr std::string_view kDataVersion = "PRAGMA data_version";
constexpr int kCachePages = -16384;  // KiB: enough for the hot leaves of every index, small enough for a device

bool file_exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

// WAL mode needs a -shm beside the file. Where none can be made and no WAL is there, nobody is writing, and the file by
// itself is the whole store.
std::unique_ptr<SQLite::Database> open_read_only(const std::string& path) {
  const int flags = SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX;
  auto database = std::make_unique<SQLite::Database>(path, flags);
  const int code = database->tryExec("SELECT count(*) FROM sqlite_schema");
  if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || file_exists(path + "-wal")) return database;
  return std::make_unique<SQLite::Database>(immutable_uri(path), flags | SQLite::OPEN_URI);
}

std::unique_ptr<SQLite::Database> open_database(const SqliteOptions& options) {
  try {
    if (options.mode == OpenMode::read_only) return open_read_only(options.path);
    const int create = options.mode == OpenMode::create ? SQLite::OPEN_CREATE : 0;
    return std::make_unique<SQLite::Database>(options.path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX | create);
  } catch (const SQLite::Exception& error) {
    if (options.mode != OpenMode::create && !file_exists(options.path))
      throw StorageError(ErrorCode::schema, "'" + options.path + "' does not exist; create it with `waybill init`");
    throw_error(error.getExtendedErrorCode(), "open '" + options.path + "'", error.what());
  }
}

void roll_back(Statements& statements) noexcept {
  if (sqlite3_get_autocommit(statements.db()) != 0) return;
  try {
    statements.get(kRollback).run();
  } catch (const StorageError&) {
    // The failure that brought us here is the one to tell; closing the connection rolls back as well.
  }
}

}  // namespace

ReadTransaction::ReadTransaction(Statements& statements) : statements_(statements) {
  statements_.get(kBeginRead).run();
}

ReadTransaction::~ReadTransaction() { roll_back(statements_); }

void BusyHandler::install(sqlite3* db) { sqlite3_busy_handler(db, &BusyHandler::nap, this); }

int BusyHandler::nap(void* self, int count) noexcept {
  auto& handler = *static_cast<BusyHandler*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (count == 0) handler.since_ = now;
  if (now - handler.since_ >= handler.timeout_) return 0;
  std::this_thread::sleep_for(now - handler.since_ < kPatience ? kNap : kImpatientNap);
  return 1;
}

WriteTransaction::WriteTransaction(Statements& statements) : statements_(statements) { statements_.get(kBegin).run(); }

WriteTransaction::~WriteTransaction() {
  if (open_) roll_back(statements_);
}

void WriteTransaction::commit() {
  try {
    statements_.get(kCommit).run();
  } catch (const StorageError& error) {
    // Still in the transaction: nothing was written, and the destructor rolls back. Else SQLite has ended it itself.
    if (sqlite3_get_autocommit(statements_.db()) == 0 || error.code() == ErrorCode::full) throw;
    open_ = false;
    throw StorageError(ErrorCode::outcome_unknown, std::string("commit: ") + error.what());
  }
  open_ = false;
}

Connection::Connection(const SqliteOptions& options)
    : options_(options), busy_(options.busy_timeout), database_(open_database(options)) {
  busy_.install(handle());
  statements_ = std::make_unique<Statements>(handle());
  set_pragmas();
  checkpoint_at_ = static_cast<int>(options_.checkpoint_pages);
}

Connection::~Connection() = default;

void Connection::set_pragmas() {
  const std::string where = "open '" + options_.path + "'";
  const auto run = [&](const std::string& sql) {
    if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw_last_error(handle(), where);
  };
  if (options_.mode != OpenMode::read_only && sqlite3_db_readonly(handle(), "main") == 1)
    throw StorageError(ErrorCode::denied, where +
                                              ": the file is read-only (change its permissions; `list`, `show` and "
                                              "`stats` work all the same)");
  run("PRAGMA cache_size = " + std::to_string(kCachePages));
  if (options_.mode == OpenMode::read_only) {
    run("PRAGMA query_only = 1");
    run("SELECT count(*) FROM sqlite_schema");  // a damaged or missing file shows itself here
    return;
  }
  if (options_.mode == OpenMode::create) run("PRAGMA auto_vacuum = incremental");
  run("PRAGMA journal_mode = WAL");
  run(std::string("PRAGMA synchronous = ") + (options_.durability == Durability::full ? "FULL" : "NORMAL"));
  // The WAL shrinks to this size when it starts over after a checkpoint; that of a bounded store to what is in it, so
  // that its size on disk is what counts.
  const std::uint64_t wal_limit = options_.max_bytes != 0 ? 0 : std::uint64_t{options_.checkpoint_pages} * 4096 * 2;
  run("PRAGMA journal_size_limit = " + std::to_string(wal_limit));
  run("PRAGMA wal_autocheckpoint = 0");
  // The table's checks are for plain SQL; what comes through here was checked before (13 % of a whole cycle).
  run("PRAGMA ignore_check_constraints = 1");
  sqlite3_wal_hook(handle(), &Connection::on_wal, this);
}

int Connection::on_wal(void* self, sqlite3*, const char*, int pages) noexcept {
  static_cast<Connection*>(self)->wal_pages_ = pages;
  return SQLITE_OK;
}

std::int64_t Connection::data_version() { return statements_->integer(kDataVersion); }

void Connection::checkpoint_if_due() noexcept {
  const int due = static_cast<int>(options_.checkpoint_pages);
  if (wal_pages_ < due) checkpoint_at_ = due;
  if (wal_pages_ < checkpoint_at_) return;
  try {
    // Beside tight writers the lock may be hard to get: try briefly, and insist when the WAL has grown far.
    const bool insist = wal_pages_ >= 4 * due;
    const bool done = checkpoint(insist ? options_.busy_timeout : Duration{std::chrono::milliseconds{20}});
    // A reader that pins the WAL, or a busy lock: not again for a while.
    checkpoint_at_ = done ? due : wal_pages_ + std::max(due / 4, 1);
  } catch (const std::exception&) {
    checkpoint_at_ = wal_pages_ + due;  // the commit before stands; the next write will meet the disk's trouble itself
  }
}

bool Connection::checkpoint(Duration wait_for_lock) {
  if (gate_ == nullptr) {
    gate_ = std::make_unique<SQLite::Database>(options_.path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
    gate_busy_.install(gate_->getHandle());
    gate_->exec("PRAGMA wal_autocheckpoint = 0");
  }
  gate_busy_.set_timeout(wait_for_lock);
  if (gate_->tryExec("BEGIN IMMEDIATE") != SQLITE_OK) return false;
  int in_wal = 0;
  int moved = 0;
  const int code = sqlite3_wal_checkpoint_v2(handle(), "main", SQLITE_CHECKPOINT_PASSIVE, &in_wal, &moved);
  gate_->exec("ROLLBACK");
  if (code != SQLITE_OK && code != SQLITE_BUSY) throw_last_error(handle(), "checkpoint");
  return code == SQLITE_OK && in_wal == moved;
}

std::uint64_t Connection::wal_bytes() const {
  struct stat info {};
  return ::stat(wal_path().c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace waybill::sqlite
