#pragma once
// Other processes, and what a process has used.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace waybill::bench {

/// Bytes this process has asked the kernel to write, and those that go to a disk.
struct IoCounters {
  std::uint64_t wchar{0};
  std::uint64_t write_bytes{0};
};
[[nodiscard]] IoCounters io_counters();

/// CPU time of all threads of a process; 0: this one.
[[nodiscard]] double cpu_seconds(pid_t process = 0);

/// Monotonic nanoseconds, the same clock in all processes.
[[nodiscard]] std::int64_t monotonic_ns();

/// Sleeps, and throws Interrupted when a signal came.
void pause_for(std::chrono::microseconds length);

/// A value in memory that forked children share. T: atomics and plain data only.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  std::size_t size_;
  void* data_;
};

template <class T>
class Shared {
 public:
  Shared() : memory_(sizeof(T)), value_(new (memory_.data()) T()) {}
  [[nodiscard]] T* operator->() const noexcept { return value_; }
  [[nodiscard]] T& operator*() const noexcept { return *value_; }

 private:
  SharedMemory memory_;
  T* value_;
};

/// A forked child. It is killed when this goes away, and when this process dies.
class Child {
 public:
  /// Runs `body` in a child and ends it; an exception is printed to stderr and makes the exit status 1.
  explicit Child(const std::function<void()>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Polls until `done`; throws std::runtime_error when the child has ended or the time is up first, Interrupted after
  /// a signal.
  void wait_until(const std::function<bool()>& done, std::chrono::seconds limit, const std::string& what) const;
  /// Throws std::runtime_error when it did not end well within the time.
  void join(std::chrono::seconds limit);

 private:
  [[nodiscard]] bool ended() const;
  pid_t pid_{-1};
  mutable int status_{0};
  mutable bool reaped_{false};
};

struct ProgramRun {
  int exit_status{0};
  double seconds{0};
  double cpu_seconds{0};
  std::uint64_t peak_rss_bytes{0};  ///< VmHWM, sampled: ru_maxrss would count the memory of the process that started it
};

/// Runs a program with its output in a file, and waits. Killed when a signal comes (throws Interrupted).
[[nodiscard]] ProgramRun run_program(const std::vector<std::string>& command, const std::filesystem::path& output,
                                     const std::filesystem::path& errors);

}  // namespace waybill::bench
