#pragma once
// The temporary folder all files of a run live in.

#include <cstdint>
#include <filesystem>
#include <string>

namespace waybill::bench {

/// A folder of its own beside the store's file, removed with everything in it at the end.
class Workspace {
 public:
  /// `store_path`: a folder, or a file (which need not exist) in one. Throws ConfigError when it can't be written to.
  explicit Workspace(const std::filesystem::path& store_path);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  /// A name nobody has had in this run.
  [[nodiscard]] std::filesystem::path fresh(const std::string& stem);
  /// Throws std::runtime_error when the disk has less room than that.
  void require_room(std::uint64_t bytes) const;
  /// `ext4 on /dev/vda`, by the mount table.
  [[nodiscard]] std::string file_system() const;
  /// Median milliseconds of appending 4 KiB and fdatasync.
  [[nodiscard]] double sync_milliseconds();

 private:
  std::filesystem::path folder_;
  unsigned next_{0};
};

/// Removes a database file with its -wal and -shm.
void remove_database(const std::filesystem::path& file) noexcept;
/// Copies a closed database file and makes the copy durable, so that its write-back disturbs nobody later.
void copy_database(const std::filesystem::path& from, const std::filesystem::path& to);
void sync_file(const std::filesystem::path& file);

}  // namespace waybill::bench
