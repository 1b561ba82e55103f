#pragma once
// Noticing other connections' commits without asking all the time.

#include "sqlite/sqlite_connection.hpp"

namespace waybill::sqlite {

/// Watches the WAL with inotify and asks `PRAGMA data_version` whether a commit has become visible. The file changes
/// before the commit is visible (the sync comes between), so one look is not enough: after a write it looks again and
/// again, first every 50 us, then after each sixteenth of the time that has passed.
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
  /// Watches the WAL that has the path now.
  void rearm();

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  [[nodiscard]] bool take_wake();
  /// Reads what inotify has; true when there was something. Re-arms when the file was replaced.
  bool drain();
  void arm();
  /// Until `deadline` or wake(), or, when `quiet`, until the WAL changes.
  void block(Deadline deadline, bool quiet);

  std::string wal_path_;
  int notify_{-1};
  int watch_{-1};
  int event_{-1};
};

}  // namespace waybill::sqlite
