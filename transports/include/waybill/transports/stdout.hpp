#pragma once
// One line of JSON an event, to a file descriptor.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "waybill/transport.hpp"

namespace waybill {

enum class LineFormat { cloudevents, event, payload };

/// The descriptor that several workers write to; whole lines never mix. Thread-safe.
///
/// A write that fails in the middle of a line (full disk, slow reader) leaves a torn line behind. The sink keeps the
/// rest of that line and writes it before anything else, so that every line of the output stays whole JSON. The event
/// of the torn line was not delivered, so its line appears again later: at least once, as everywhere.
class LineSink {
 public:
  /// Does not own `fd`.
  explicit LineSink(int fd);
  /// Writes whole lines, each with its line feed, waiting at most `budget` for a slow reader. Returns how many bytes
  /// of `lines` were written before an error, whose errno is then in `error` (0: none; EAGAIN: the time was up).
  [[nodiscard]] std::size_t write(std::string_view lines, Duration budget, int& error);

 private:
  int fd_;
  bool may_block_;
  std::mutex mutex_;
  std::string torn_rest_;  ///< of the line that was written in part
};

/// An event counts as delivered when its whole line was written. EPIPE: the reader is gone, finished() says so.
[[nodiscard]] std::unique_ptr<ITransport> make_line_transport(std::shared_ptr<LineSink> sink, LineFormat format);

}  // namespace waybill
