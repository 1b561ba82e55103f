#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <system_error>
#include <utility>

#include "common/event_line.hpp"
#include "waybill/transports/stdout.hpp"

namespace waybill {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Lines are collected up to this many bytes, then written with one call: memory stays bounded whatever the batch.
constexpr std::size_t kChunkBytes = 256U << 10;

bool is_regular_file(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

/// True when the descriptor takes bytes (or has an error to tell) before the deadline.
bool wait_writable(int fd, SteadyClock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    pollfd entry{fd, POLLOUT, 0};
    const int ready = ::poll(&entry, 1, left > 0 ? static_cast<int>(std::min<long long>(left, INT_MAX)) : 0);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // let write() say what is wrong
    if (left <= 0) return false;
  }
}

/// Writes until all is out, an error, or the deadline. A blocking pipe that is writable takes PIPE_BUF bytes without
/// blocking, so pipes are fed in such pieces: a reader that stands still costs the budget, not for ever.
std::size_t write_bytes(int fd, bool may_block, std::string_view bytes, SteadyClock::time_point deadline, int& error) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    if (may_block && !wait_writable(fd, deadline)) {
      error = EAGAIN;
      return written;
    }
    const std::size_t left = bytes.size() - written;
    const ssize_t count = ::write(fd, bytes.data() + written, may_block ? std::min<std::size_t>(left, PIPE_BUF) : left);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR && errno != EAGAIN) {
      error = errno;
      return written;
    }
  }
  return written;
}

std::string describe(int error) {
  switch (error) {
    case EPIPE:
      return "the reader of standard output is gone";
    case EBADF:
      return "standard output is closed";
    case EAGAIN:
      return "the reader of standard output is too slow";
    default:
      return "standard output: " + std::generic_category().message(error);
  }
}

class LineTransport final : public ITransport {
 public:
  LineTransport(std::shared_ptr<LineSink> sink, LineFormat format) : sink_(std::move(sink)), format_(format) {}

  [[nodiscard]] std::vector<Outcome> deliver(std::span<const Event> events, Duration budget) override;
  [[nodiscard]] std::string finished() const override { return finished_; }

 private:
  /// One call of deliver().
  struct Batch {
    std::span<const Event> events;
    SteadyClock::time_point deadline;
    std::vector<Outcome> outcomes{};
    StoppedAggregates stopped{};
    std::string lines{};
    std::vector<std::pair<std::size_t, std::size_t>> ends{};  ///< event index, where its line ends in `lines`
    std::string down{};                                       ///< why nothing more can be written
  };

  void add(Batch& batch, std::size_t index);
  static void stop(Batch& batch, std::size_t index, Outcome outcome);
  void flush(Batch& batch);

  std::shared_ptr<LineSink> sink_;
  LineFormat format_;
  std::string finished_;
};

/// Records that the event was not delivered; behind an earlier one of its aggregate it was not even tried.
void LineTransport::stop(Batch& batch, std::size_t index, Outcome outcome) {
  const Event& event = batch.events[index];
  if (batch.stopped.contains(event)) {
    batch.outcomes[index] = Outcome::not_attempted("an earlier event of its aggregate was not delivered");
    return;
  }
  batch.stopped.stop(event);
  batch.outcomes[index] = std::move(outcome);
}

void LineTransport::flush(Batch& batch) {
  std::size_t written = 0;
  if (batch.down.empty() && !batch.lines.empty()) {
    int error = 0;
    const auto left = std::chrono::duration_cast<Duration>(batch.deadline - SteadyClock::now());
    written = sink_->write(batch.lines, left, error);
    if (error != 0) batch.down = describe(error);
    if (error == EPIPE || error == EBADF) finished_ = batch.down;
  }
  for (const auto& [index, end] : batch.ends) {
    if (end <= written)
      batch.outcomes[index] = Outcome::delivered();
    else
      stop(batch, index, Outcome::unavailable(batch.down));
  }
  batch.lines.clear();
  batch.ends.clear();
}

void LineTransport::add(Batch& batch, std::size_t index) {
  try {
    batch.lines += transports::encode_line(batch.events[index], format_);
    batch.lines += '\n';
    batch.ends.emplace_back(index, batch.lines.size());
  } catch (const InvalidEvent& error) {
    flush(batch);  // what comes before it decides whether it is its turn
    stop(batch, index, Outcome::rejected(error.what()));
  }
  if (batch.lines.size() >= kChunkBytes) flush(batch);
}

std::vector<Outcome> LineTransport::deliver(std::span<const Event> events, Duration budget) {
  Batch batch{.events = events, .deadline = SteadyClock::now() + budget, .down = finished_};
  batch.outcomes.resize(events.size());
  for (std::size_t index = 0; index < events.size(); ++index) {
    if (batch.stopped.contains(events[index]))
      stop(batch, index, {});
    else if (!batch.down.empty())
      stop(batch, index, Outcome::unavailable(batch.down));
    else
      add(batch, index);
  }
  flush(batch);
  return std::move(batch.outcomes);
}

}  // namespace

LineSink::LineSink(int fd) : fd_(fd), may_block_(!is_regular_file(fd)) {}

std::size_t LineSink::write(std::string_view lines, Duration budget, int& error) {
  error = 0;
  // Before the lock: whoever waited for it behind a slow reader has used up its own budget as well.
  const auto deadline = SteadyClock::now() + budget;
  const std::lock_guard lock{mutex_};
  torn_rest_.erase(0, write_bytes(fd_, may_block_, torn_rest_, deadline, error));
  if (error != 0) return 0;
  const std::size_t written = write_bytes(fd_, may_block_, lines, deadline, error);
  if (written > 0 && lines[written - 1] != '\n') {
    const std::string_view rest = lines.substr(written);
    torn_rest_ = rest.substr(0, rest.find('\n') + 1);
  }
  return written;
}

std::unique_ptr<ITransport> make_line_transport(std::shared_ptr<LineSink> sink, LineFormat format) {
  return std::make_unique<LineTransport>(std::move(sink), format);
}

}  // namespace waybill
