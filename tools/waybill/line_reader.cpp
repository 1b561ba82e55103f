#include "line_reader.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace waybill::cli {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;

}  // namespace

/// Reads once more behind what is there; false at the end of the input.
bool LineReader::fill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + kReadBytes);
  ssize_t count = 0;
  do {
    count = ::read(fd_, buffer_.data() + old_size, kReadBytes);
  } while (count < 0 && errno == EINTR);
  const int error = errno;
  buffer_.resize(old_size + static_cast<std::size_t>(count > 0 ? count : 0));
  if (count < 0) throw std::system_error(error, std::generic_category(), "reading the input");
  ended_ = count == 0;
  return !ended_;
}

LineReader::Read LineReader::next(std::string_view& line) {
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    const std::size_t length = (end == std::string::npos ? buffer_.size() : end) - begin_;
    if (end != std::string::npos) {
      line = std::string_view{buffer_}.substr(begin_, length);
      begin_ = scanned_ = end + 1;
      ++number_;
      return length > max_line_ ? Read::too_long : Read::line;
    }
    scanned_ = buffer_.size();
    if (length > max_line_) return skip_rest();
    if (fill()) continue;
    if (length == 0) return Read::end;
    line = std::string_view{buffer_}.substr(begin_);
    begin_ = scanned_ = buffer_.size();
    ++number_;
    return Read::line;
  }
}

/// Drops everything up to the next line feed, piece by piece.
LineReader::Read LineReader::skip_rest() {
  ++number_;
  while (true) {
    begin_ = scanned_ = buffer_.size();
    if (!fill()) return Read::too_long;
    const std::size_t end = buffer_.find('\n');
    if (end == std::string::npos) continue;
    begin_ = scanned_ = end + 1;
    return Read::too_long;
  }
}

}  // namespace waybill::cli
