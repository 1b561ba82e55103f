#include "exec/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string_view>
#include <utility>

extern char** environ;  // NOLINT: POSIX gives it no header of its own

namespace waybill::transports {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kKept = 600;  ///< bytes of output; a reason has room for 1000 characters

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  void close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_{-1};
};

struct Pipe {
  Fd read;
  Fd write;
};

bool open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  pipe.read = Fd(ends[0]);
  pipe.write = Fd(ends[1]);
  return true;
}

/// A program that does not read its input must not end this process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    if (!was_pending_)
      while (sigtimedwait(&sigpipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_{false};
};

class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);  // its own, so that its children can be killed with it
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  ~Attributes() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void use(int fd, int as) { posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  const auto is_replaced = [&](std::string_view entry) {
    return std::any_of(variables.begin(), variables.end(), [&](const std::string& variable) {
      return entry.substr(0, entry.find('=')) == std::string_view(variable).substr(0, variable.find('='));
    });
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!is_replaced(*entry)) all.emplace_back(*entry);
  return all;
}

/// A started program and the ends of its pipes that are ours.
class Child {
 public:
  /// 0, or errno.
  int start(std::vector<std::string> command, const std::vector<std::string>& variables) {
    Pipe input;
    Pipe output;
    if (!open_pipe(input) || !open_pipe(output)) return errno;
    Attributes attributes;
    attributes.use(input.read.get(), STDIN_FILENO);
    attributes.use(output.write.get(), STDOUT_FILENO);
    attributes.use(output.write.get(), STDERR_FILENO);
    std::vector<std::string> environment = environment_with(variables);
    const std::vector<char*> argv = pointers(command);
    const std::vector<char*> envp = pointers(environment);
    const int error =
        posix_spawnp(&pid_, argv[0], attributes.actions(), attributes.attributes(), argv.data(), envp.data());
    if (error != 0) return error;
    // By its number: glibc 2.36 declares the function for C only.
    pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    input_ = std::move(input.write);
    output_ = std::move(output.read);
    ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    return 0;
  }

  /// Feeds it and listens until it ends; false when the time was up first.
  bool attend(std::string_view input, SteadyClock::time_point deadline, std::string& output) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
      if (left <= 0) return false;
      if (input.empty()) input_.close();
      std::array<pollfd, 3> entries{
          {{pidfd_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {input_.get(), POLLOUT, 0}}};
      ::poll(entries.data(), entries.size(), static_cast<int>(std::min<long long>(left, 60'000)));
      if (entries[2].revents != 0) feed(input);
      if (entries[1].revents != 0) listen(output);
      const bool ended = pidfd_.is_open() ? entries[0].revents != 0 : !output_.is_open();
      if (!ended) continue;
      listen(output);
      return true;
    }
  }

  void kill() const { ::kill(-pid_, SIGKILL); }

  [[nodiscard]] int wait() const {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  void feed(std::string_view& input) {
    const WithoutSigpipe guard;
    const ssize_t count = ::write(input_.get(), input.data(), input.size());
    if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EINTR) input = {};  // it does not want the rest
  }

  void listen(std::string& output) {
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t count = ::read(output_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count == 0) output_.close();  // poll leaves it out from now on
      if (count <= 0) return;
      output.append(buffer.data(), static_cast<std::size_t>(count));
      if (output.size() > 2 * kKept) output.erase(0, output.size() - kKept);
    }
  }

  pid_t pid_{0};
  Fd pidfd_;
  Fd input_;
  Fd output_;
};

}  // namespace

RunResult run_program(const std::vector<std::string>& command, const std::vector<std::string>& variables,
                      const std::string& input, Duration limit) {
  RunResult result;
  const auto deadline = SteadyClock::now() + limit;
  Child child;
  result.start_error = child.start(command, variables);
  if (result.start_error != 0) return result;
  result.timed_out = !child.attend(input, deadline, result.output_end);
  if (result.timed_out) child.kill();
  const int status = child.wait();
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (result.output_end.size() > kKept) result.output_end.erase(0, result.output_end.size() - kKept);
  return result;
}

}  // namespace waybill::transports
