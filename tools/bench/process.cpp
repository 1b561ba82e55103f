#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "interrupt.hpp"

namespace waybill::bench {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

/// 0 when the process is gone.
std::uint64_t peak_rss_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 6, "VmHWM:") == 0) return std::stoull(line.substr(6)) << 10U;
  return 0;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

/// posix_spawn, so that the memory of this process is never the child's.
pid_t spawn(const std::vector<std::string>& command, const std::filesystem::path& output,
            const std::filesystem::path& errors) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments = pointers(words);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(error, "can't start '" + command.front() + "'");
  return pid;
}

}  // namespace

IoCounters io_counters() {
  IoCounters counters;
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "wchar:") counters.wchar = value;
    if (name == "write_bytes:") counters.write_bytes = value;
  }
  return counters;
}

double cpu_seconds(pid_t process) {
  clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
  timespec time{};
  if ((process != 0 && ::clock_getcpuclockid(process, &clock) != 0) || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

void pause_for(std::chrono::microseconds length) {
  const auto end = steady_clock::now() + length;
  for (;;) {
    check_interrupt();
    const auto left = end - steady_clock::now();
    if (left <= steady_clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min<steady_clock::duration>(left, std::chrono::milliseconds(100)));
  }
}

SharedMemory::SharedMemory(std::size_t size)
    : size_(size), data_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
  if (data_ == MAP_FAILED) fail(errno, "no shared memory");
}

SharedMemory::~SharedMemory() { ::munmap(data_, size_); }

Child::Child(const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail(errno, "can't start a child process");
  if (pid_ > 0) return;
  forget_interrupts();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "waybill bench: child process: %s\n", error.what());
    ::_exit(1);
  }
  ::_exit(0);
}

Child::~Child() {
  if (reaped_ || pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
}

bool Child::ended() const {
  if (!reaped_) reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return reaped_;
}

void Child::wait_until(const std::function<bool()>& done, std::chrono::seconds limit, const std::string& what) const {
  const auto end = steady_clock::now() + limit;
  while (!done()) {
    if (ended()) throw std::runtime_error("a child process ended before " + what);
    if (steady_clock::now() > end) throw std::runtime_error("waited too long for " + what);
    pause_for(std::chrono::milliseconds(1));
  }
}

void Child::join(std::chrono::seconds limit) {
  const auto end = steady_clock::now() + limit;
  while (!ended()) {
    if (steady_clock::now() > end) throw std::runtime_error("a child process does not end");
    pause_for(std::chrono::milliseconds(1));
  }
  if (!WIFEXITED(status_) || WEXITSTATUS(status_) != 0) throw std::runtime_error("a child process failed");
}

ProgramRun run_program(const std::vector<std::string>& command, const std::filesystem::path& output,
                       const std::filesystem::path& errors) {
  ProgramRun run;
  const auto start = steady_clock::now();
  const pid_t pid = spawn(command, output, errors);
  int status = 0;
  rusage usage{};
  for (;;) {
    const pid_t got = ::wait4(pid, &status, WNOHANG, &usage);
    if (got == pid) break;
    if (interrupted()) {
      ::kill(pid, SIGKILL);
      while (::wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
      }
      throw Interrupted();
    }
    run.peak_rss_bytes = std::max(run.peak_rss_bytes, peak_rss_of(pid));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  run.seconds = seconds_since(start);
  run.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return run;
}

}  // namespace waybill::bench
