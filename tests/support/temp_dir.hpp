#pragma once
// A directory of one test's own.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace waybill::test {

/// Fresh and empty; removed with all it holds at the end. Not copyable.
class TempDir {
 public:
  explicit TempDir(const std::string& prefix = "waybill-test",
                   const std::filesystem::path& root = std::filesystem::temp_directory_path()) {
    std::string name = (root / (prefix + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a directory like " + name);
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace waybill::test
