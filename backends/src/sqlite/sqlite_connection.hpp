#pragma once
// One open connection of ours: pragmas, busy handler, write transactions, checkpoints.

#include <SQLiteCpp/Database.h>

#include <memory>
#include <string>

#include "sqlite/sqlite_statement.hpp"
#include "waybill/backends/sqlite.hpp"

namespace waybill::sqlite {

/// Waits for a lock in naps of half a millisecond. SQLite's own handler backs off to 100 ms and starves a relay beside
/// a tight writer for seconds (research: 0.6-2.0 s against less than 0.1 s).
class BusyHandler {
 public:
  explicit BusyHandler(Duration timeout) : timeout_(timeout) {}
  void install(sqlite3* db);
  void set_timeout(Duration timeout) { timeout_ = timeout; }

 private:
  static int nap(void* self, int count) noexcept;
  Duration timeout_;
  std::chrono::steady_clock::time_point since_{};
};

/// BEGIN IMMEDIATE ... COMMIT; rolls back when it is left without commit(). Immediate, because a deferred transaction
/// that turns into a writer fails at once with BUSY_SNAPSHOT, whatever the timeout.
class WriteTransaction {
 public:
  explicit WriteTransaction(Statements& statements);
  ~WriteTransaction();
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;
  /// Throws StorageError: nothing was written, unless its code is `outcome_unknown`.
  void commit();

 private:
  Statements& statements_;
  bool open_{true};
};

/// BEGIN ... ROLLBACK: several questions, one snapshot. Short: a reader that stays pins the WAL.
class ReadTransaction {
 public:
  explicit ReadTransaction(Statements& statements);
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Statements& statements_;
};

/// Thread-confined.
class Connection {
 public:
  /// Opens the file with our pragmas; does not look at the tables. Throws StorageError.
  explicit Connection(const SqliteOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] sqlite3* handle() const noexcept { return database_->getHandle(); }
  [[nodiscard]] SQLite::Database& database() noexcept { return *database_; }
  [[nodiscard]] Statements& statements() noexcept { return *statements_; }

  /// Changes when another connection has committed; our own commits do not change it.
  [[nodiscard]] std::int64_t data_version();
  /// Call after a commit: runs a checkpoint when the WAL has grown by checkpoint_pages. Never throws.
  void checkpoint_if_due() noexcept;
  /// Moves the WAL into the file while a second connection of ours holds the write lock, so that nobody can commit
  /// meanwhile: SQLite before 3.51.3 may lose commits otherwise. False when the lock was not to be had in time.
  bool checkpoint(Duration wait_for_lock);
  /// Size of the WAL file on disk.
  [[nodiscard]] std::uint64_t wal_bytes() const;
  [[nodiscard]] std::string wal_path() const { return options_.path + "-wal"; }

 private:
  void set_pragmas();
  static int on_wal(void* self, sqlite3*, const char*, int pages) noexcept;

  const SqliteOptions& options_;
  BusyHandler busy_;
  std::unique_ptr<SQLite::Database> database_;
  std::unique_ptr<Statements> statements_;
  std::unique_ptr<SQLite::Database> gate_;  ///< holds the write lock during a checkpoint; opened at the first one
  BusyHandler gate_busy_{Duration{0}};
  int wal_pages_{0};
  int checkpoint_at_{0};
};

}  // namespace waybill::sqlite
