#pragma once
// A pipe between a program under test and the test, which decides when it reads.

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

namespace waybill::test {

/// Both ends close on exec; a program gets the writing end as its `output_fd`.
class Pipe {
 public:
  /// `bytes`: what it holds at least (rounded up by the kernel); 0: the default of 64 KiB.
  explicit Pipe(int bytes = 0) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    if (bytes > 0 && ::fcntl(ends_[1], F_SETPIPE_SZ, bytes) < 0) throw std::runtime_error("F_SETPIPE_SZ failed");
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int writer() const noexcept { return ends_[1]; }
  void close_reader() { close(ends_[0]); }
  /// The test's own copy; the program keeps its.
  void close_writer() { close(ends_[1]); }
  [[nodiscard]] int capacity() const { return ::fcntl(ends_[0], F_GETPIPE_SZ); }

  /// How many bytes are there to be read.
  [[nodiscard]] int waiting() const {
    int bytes = 0;
    return ::ioctl(ends_[0], FIONREAD, &bytes) == 0 ? bytes : -1;
  }

  /// Reads what is there, waiting at most `wait` for the first byte. False at the end of the stream.
  bool read_some(std::string& text, std::chrono::milliseconds wait) {
    pollfd entry{ends_[0], POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(wait.count())) <= 0) return true;
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(ends_[0], buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  /// Until every writer has closed. Close the test's own copy first.
  [[nodiscard]] std::string read_rest() {
    std::string text;
    while (read_some(text, std::chrono::milliseconds{1000})) {
    }
    return text;
  }

 private:
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  std::array<int, 2> ends_{-1, -1};
};

}  // namespace waybill::test
