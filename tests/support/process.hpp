#pragma once
// Programs as tests run them: with all three streams in hand and a deadline.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace waybill::test {

/// How a program ended.
struct ProcessEnd {
  int exit_code{-1};  ///< -1 when a signal ended it
  int signal{0};
  bool timed_out{false};  ///< it was killed because the deadline had passed
};

struct ProcessOptions {
  std::string program;  ///< a path, or a name to look for in PATH
  std::vector<std::string> arguments;
  std::filesystem::path directory;  ///< to run in; empty: this process's
  std::filesystem::path input;      ///< standard input; empty: nothing to read
  std::filesystem::path output;     ///< standard output, created or cut; empty: forgotten. Not used with output_fd
  std::filesystem::path errors;     ///< standard error, created or cut; empty: this process's
  int output_fd{-1};                ///< a descriptor of this process for standard output
};

/// A running program. Killed with the object. Not copyable.
class Process {
 public:
  /// Throws std::system_error when it can't be started.
  explicit Process(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  /// nullopt while it runs.
  [[nodiscard]] std::optional<ProcessEnd> poll();
  /// Waits; kills it when the deadline has passed.
  ProcessEnd wait(std::chrono::seconds deadline = std::chrono::seconds{60});

 private:
  pid_t pid_{-1};
  std::optional<ProcessEnd> end_;
};

struct ProcessResult : ProcessEnd {
  std::string out;
  std::string err;
};

/// Runs it to its end with `input` on standard input. The streams go through files in `scratch`.
[[nodiscard]] ProcessResult run_process(ProcessOptions options, const std::string& input,
                                        const std::filesystem::path& scratch,
                                        std::chrono::seconds deadline = std::chrono::seconds{60});

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

/// The rest between two looks of eventually() and Process::wait().
void short_rest();

/// Looks until it holds, or the deadline has passed; says whether it held.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& condition, std::chrono::seconds deadline = std::chrono::seconds{30}) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    short_rest();
  }
  return true;
}

}  // namespace waybill::test
