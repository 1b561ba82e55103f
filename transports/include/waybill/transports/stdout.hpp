#pragma once
// One line of JSON an event, to a file descriptor.

#include <memory>
#include <mutex>

#include "waybill/transport.hpp"

namespace waybill {

enum class LineFormat { cloudevents, event, payload };

/// The descriptor that several workers write to; whole lines never mix. Thread-safe.
class LineSink {
 public:
  /// Does not own `fd`.
  explicit LineSink(int fd) : fd_(fd) {}
  /// Writes all bytes; returns how many were written before an error, whose errno is then in `error`.
  [[nodiscard]] std::size_t write(std::string_view bytes, int& error);

 private:
  int fd_;
  std::mutex mutex_;
};

/// An event counts as delivered when its whole line was written. EPIPE: the reader is gone, finished() says so.
[[nodiscard]] std::unique_ptr<ITransport> make_line_transport(std::shared_ptr<LineSink> sink, LineFormat format);

}  // namespace waybill
