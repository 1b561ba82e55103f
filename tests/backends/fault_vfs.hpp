#pragma once
// Faults of the disk on purpose: SQLite's own file layer with a hand in writes and syncs.

#include <atomic>
#include <functional>
#include <string>

struct sqlite3_vfs;

namespace waybill::test {

/// While it lives, connections that are opened in this process go through it. Close them before it ends. One at a time.
class FaultVfs {
 public:
  enum class Call { write, sync };
  enum class File { database, wal, other };

  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  /// The `nth` such call from now on (1: the next) and all after it fail with SQLite's `code`, until heal().
  void fail(Call call, int nth, int code);
  void heal();
  /// True when some call has failed since fail().
  [[nodiscard]] bool has_failed() const { return failed_; }
  /// Runs before each write to a database file. In WAL mode only a checkpoint writes there.
  void on_database_write(std::function<void()> hook) { hook_ = std::move(hook); }
  /// Runs before each sync of a WAL.
  void on_wal_sync(std::function<void()> hook) { sync_hook_ = std::move(hook); }
  /// How often a database file was opened.
  [[nodiscard]] int database_opens() const { return opens_; }

  // For the file layer:
  [[nodiscard]] int before(Call call, File file);
  void opened(File file) { opens_ += file == File::database ? 1 : 0; }

 private:
  std::atomic<int> opens_{0};
  std::atomic<int> writes_left_{-1};
  std::atomic<int> syncs_left_{-1};
  std::atomic<int> code_{0};
  std::atomic<bool> failed_{false};
  std::function<void()> hook_;
  std::function<void()> sync_hook_;
};

}  // namespace waybill::test
