#include "sqlite/sqlite_quarantine.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sqlite/sqlite_connection.hpp"

namespace waybill::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestCheck = 512U << 20;  // a full check of a bigger file would delay the start too long

/// The folder's lock: two processes must not both move the file, or the second would move the fresh one.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0)
      throw StorageError(ErrorCode::unavailable, "lock '" + folder.string() + "': " + std::strerror(errno));
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

enum class State { sound, empty, damaged };

State look_at(SqliteOptions options) {
  options.mode = OpenMode::read_write;
  try {
    Connection connection(options);
    if (connection.statements().integer("SELECT count(*) FROM sqlite_schema") == 0) return State::empty;
    if (fs::file_size(options.path) > kLargestCheck) return State::sound;
    const Query check(connection.statements().get("PRAGMA quick_check(1)"));
    return check->step() && check->text(0) != "ok" ? State::damaged : State::sound;
  } catch (const StorageError& error) {
    if (error.code() == ErrorCode::corrupt) return State::damaged;
    throw;
  }
}

std::string aside_name(const std::string& path, int number) { return path + ".corrupt-" + std::to_string(number); }

int next_number(const std::string& path) {
  int number = 1;
  while (fs::exists(aside_name(path, number))) ++number;
  return number;
}

void set_aside(const std::string& path, const std::string& name) {
  fs::rename(path, name);
  for (const char* suffix : {"-wal", "-shm"})
    if (fs::exists(path + suffix)) fs::rename(path + suffix, name + suffix);
}

}  // namespace

Recovery recover_if_damaged(const SqliteOptions& options, const std::function<void()>& start_fresh) {
  const std::string& path = options.path;
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder)) return {};
  const FolderLock lock(folder);
  const int next = next_number(path);
  Recovery recovery;
  if (!fs::exists(path)) {
    if (next == 1) return {};  // there never was one
    recovery.set_aside = aside_name(path, next - 1);
  } else {
    const State state = look_at(options);
    if (state == State::sound) return {};
    if (state == State::damaged) {
      recovery.set_aside = aside_name(path, next);
      set_aside(path, recovery.set_aside);
    }
  }
  start_fresh();
  recovery.fresh = true;
  return recovery;
}

}  // namespace waybill::sqlite
