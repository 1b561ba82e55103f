#include "workspace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "statistics.hpp"
#include "waybill/error.hpp"

namespace waybill::bench {
namespace fs = std::filesystem;

Workspace::Workspace(const fs::path& store_path) {
  std::error_code ignored;
  fs::path parent = fs::is_directory(store_path, ignored) ? store_path : store_path.parent_path();
  if (parent.empty()) parent = ".";
  std::string name = (fs::absolute(parent) / "waybill-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw ConfigError("can't make a temporary folder in '" + parent.string() +
                      "': " + std::generic_category().message(errno) +
                      "; --store must name a file in a folder you may write to");
  folder_ = name;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Workspace::fresh(const std::string& stem) { return folder_ / (stem + "-" + std::to_string(next_++) + ".db"); }

void Workspace::require_room(std::uint64_t bytes) const {
  const fs::space_info space = fs::space(folder_);
  if (space.available < bytes)
    throw std::runtime_error("this measure needs " + std::to_string(bytes >> 20U) + " MiB of disk, '" +
                             folder_.parent_path().string() + "' has " + std::to_string(space.available >> 20U) +
                             " MiB; use --quick, or --only with smaller measures");
}

std::string Workspace::file_system() const {
  std::ifstream mounts("/proc/self/mounts");
  std::string best_point;
  std::string found = "unknown";
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device;
    std::string point;
    std::string type;
    words >> device >> point >> type;
    const std::string prefix = point == "/" ? point : point + "/";
    if (folder_.string().compare(0, prefix.size(), prefix) != 0 || point.size() < best_point.size()) continue;
    best_point = point;
    found = type + " on " + device;
  }
  return found;
}

double Workspace::sync_milliseconds() {
  const fs::path file = folder_ / "sync-probe";
  const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return 0;
  const std::array<char, 4096> block{};
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (::write(fd, block.data(), block.size()) < 0 || ::fdatasync(fd) != 0) break;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  ::close(fd);
  std::error_code ignored;
  fs::remove(file, ignored);
  return median(times);
}

void remove_database(const fs::path& file) noexcept {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix, ignored);
}

void sync_file(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::fsync(fd) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    throw std::system_error(error, std::generic_category(), "can't make '" + file.string() + "' durable");
  }
  ::close(fd);
}

void copy_database(const fs::path& from, const fs::path& to) {
  fs::copy_file(from, to);
  sync_file(to);
}

}  // namespace waybill::bench
