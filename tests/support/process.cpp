#include "support/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

extern char** environ;

namespace waybill::test {
namespace {

void require(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// What the child does with its descriptors, signals and folder before it becomes the program.
class SpawnSettings {
 public:
  SpawnSettings() {
    require(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    require(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    // As a shell would start it: no signal ignored or blocked because this test does so.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    require(::posix_spawnattr_setsigmask(&attributes_, &none), "sigmask");
    require(::posix_spawnattr_setsigdefault(&attributes_, &all), "sigdefault");
    require(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF), "flags");
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  void open(int fd, const std::filesystem::path& path, int flags) {
    require(::posix_spawn_file_actions_addopen(&actions_, fd, path.c_str(), flags, 0644), path.c_str());
  }
  void duplicate(int from, int to) { require(::posix_spawn_file_actions_adddup2(&actions_, from, to), "dup2"); }
  void change_directory(const std::filesystem::path& path) {
    require(::posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()), path.c_str());
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

void set_streams(const ProcessOptions& options, SpawnSettings& settings) {
  const int create = O_WRONLY | O_CREAT | O_TRUNC;
  const std::filesystem::path nothing = "/dev/null";
  settings.open(STDIN_FILENO, options.input.empty() ? nothing : options.input, O_RDONLY);
  if (options.output_fd >= 0)
    settings.duplicate(options.output_fd, STDOUT_FILENO);
  else
    settings.open(STDOUT_FILENO, options.output.empty() ? nothing : options.output, create);
  if (!options.errors.empty()) settings.open(STDERR_FILENO, options.errors, create);
  if (!options.directory.empty()) settings.change_directory(options.directory);
}

}  // namespace

Process::Process(const ProcessOptions& options) {
  SpawnSettings settings;
  set_streams(options, settings);
  std::vector<std::string> words{options.program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  require(::posix_spawnp(&pid_, options.program.c_str(), &settings.actions_, &settings.attributes_, pointers.data(),
                         environ),
          options.program.c_str());
}

Process::~Process() {
  if (poll()) return;
  signal(SIGKILL);
  wait();
}

void Process::signal(int number) const {
  if (!end_) ::kill(pid_, number);
}

std::optional<ProcessEnd> Process::poll() {
  int status = 0;
  if (!end_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    end_.emplace();
    if (WIFEXITED(status)) end_->exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_->signal = WTERMSIG(status);
  }
  return end_;
}

ProcessEnd Process::wait(std::chrono::seconds deadline) {
  const bool ended = eventually([this] { return poll().has_value(); }, deadline);
  if (!ended) {
    signal(SIGKILL);
    while (!poll()) short_rest();
    end_->timed_out = true;
  }
  return *end_;
}

ProcessResult run_process(ProcessOptions options, const std::string& input, const std::filesystem::path& scratch,
                          std::chrono::seconds deadline) {
  if (options.input.empty() && !input.empty()) {
    options.input = scratch / "stdin.txt";
    write_file(options.input, input);
  }
  if (options.output.empty()) options.output = scratch / "stdout.txt";
  options.errors = scratch / "stderr.txt";
  Process process{options};
  ProcessResult result;
  static_cast<ProcessEnd&>(result) = process.wait(deadline);
  // A device (/dev/full, say) can't be read back.
  if (options.output_fd < 0 && std::filesystem::is_regular_file(options.output)) result.out = read_file(options.output);
  result.err = read_file(options.errors);
  return result;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) throw std::runtime_error("can't read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text;
  if (!file.flush()) throw std::runtime_error("can't write " + path.string());
}

void short_rest() { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }

}  // namespace waybill::test
