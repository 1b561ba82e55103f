#pragma once
// Noticing other connections' commits without asking all the time.

#include "sqlite/sqlite_connection.hpp"

namespace waybill::sqlite {

/// Watches the WAL with inotify and asks `PRAGMA data_version` whether a commit has become visible. The file changes
/// before the commit is visible (the sync comes between), so one look is not enough: look again, briefly.
class WakeUp {
 public:
  explicit WakeUp(std::string wal_path);
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  /// True when data_version differs from `seen` or wake() was called; false after `timeout`.
  bool wait(Connection& connection, std::int64_t seen, Duration timeout);
  /// Thread-safe.
  void wake() noexcept;

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  [[nodiscard]] bool take_wake();
  /// Reads what inotify has; true when there was something. Re-arms when the file was replaced.
  bool drain();
  void arm();
  bool look_again(Connection& connection, std::int64_t seen, Duration how_long);
  void block_until(Deadline deadline);

  std::string wal_path_;
  int notify_{-1};
  int watch_{-1};
  int event_{-1};
};

}  // namespace waybill::sqlite
