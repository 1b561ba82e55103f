#pragma once
// Small disks of a test's own, where the system lets us mount some.

#include <sys/mount.h>

#include <filesystem>
#include <optional>
#include <string>

#include "support/temp_dir.hpp"

namespace waybill::test {

/// A tmpfs; unmounted with the object. Not copyable.
class SmallDisk {
 public:
  /// nullptr where mounting is not allowed (no CAP_SYS_ADMIN).
  static std::unique_ptr<SmallDisk> make(const std::string& size) {
    std::unique_ptr<SmallDisk> disk(new SmallDisk);
    const std::string options = "size=" + size;
    if (::mount("waybill-test", disk->path().c_str(), "tmpfs", 0, options.c_str()) != 0) return nullptr;
    disk->mounted_ = true;
    return disk;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }
  /// False when the system says no.
  [[nodiscard]] bool make_read_only() const {
    return ::mount("waybill-test", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }

 private:
  SmallDisk() = default;
  TempDir directory_{"waybill-disk"};
  bool mounted_{false};
};

}  // namespace waybill::test
