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

bool is_damaged(SqliteOptions options) {
  options.mode = OpenMode::read_write;
  try {
    Connection connection(options);
    (void)connection.statements().integer("SELECT count(*) FROM sqlite_schema");
    if (fs::file_size(options.path) > kLargestCheck) return false;
    const Query check(connection.statements().get("PRAGMA quick_check(1)"));
    return check->step() && check->text(0) != "ok";
  } catch (const StorageError& error) {
    if (error.code() == ErrorCode::corrupt) return true;
    throw;
  }
}

std::string free_name(const std::string& path) {
  for (int number = 1;; ++number) {
    std::string name = path + ".corrupt-" + std::to_string(number);
    if (!fs::exists(name)) return name;
  }
}

}  // namespace

std::optional<std::string> quarantine_if_damaged(const SqliteOptions& options) {
  if (!fs::exists(options.path)) return std::nullopt;
  const fs::path folder = fs::absolute(options.path).parent_path();
  const FolderLock lock(folder);
  if (!is_damaged(options)) return std::nullopt;
  const std::string name = free_name(options.path);
  fs::rename(options.path, name);
  for (const char* suffix : {"-wal", "-shm"})
    if (fs::exists(options.path + suffix)) fs::rename(options.path + suffix, name + suffix);
  return name;
}

}  // namespace waybill::sqlite
