#pragma once
// Lines from a file descriptor in bounded memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace waybill::cli {

/// Splits what a descriptor gives at line feeds. A longer line than the limit is passed over without being kept.
class LineReader {
 public:
  enum class Read { line, too_long, end };

  /// Does not own `fd`. `max_line`: bytes without the line feed.
  LineReader(int fd, std::size_t max_line) : fd_(fd), max_line_(max_line) {}

  /// The next line, without its line feed, valid until the next call. The last line may lack its line feed.
  /// Throws std::system_error when reading fails.
  [[nodiscard]] Read next(std::string_view& line);
  /// Of the line last read, from 1.
  [[nodiscard]] std::uint64_t line_number() const noexcept { return number_; }

 private:
  [[nodiscard]] bool fill();
  [[nodiscard]] Read skip_rest();

  int fd_;
  std::size_t max_line_;
  std::string buffer_;
  std::size_t begin_{0};    ///< of what is not handed out yet
  std::size_t scanned_{0};  ///< up to here there is no line feed
  bool ended_{false};
  std::uint64_t number_{0};
};

}  // namespace waybill::cli
