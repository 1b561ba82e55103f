#include "sqlite/sqlite_wakeup.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

namespace waybill::sqlite {
namespace {

using std::chrono::steady_clock;

constexpr Duration kQuickLook{50};
constexpr Duration kQuickPhase = std::chrono::milliseconds{4};
constexpr Duration kSlowLook = std::chrono::milliseconds{1};
// After a write by others: as long as a sync may take on a slow card. After what may have been our own write: shorter.
constexpr Duration kOthersWrite = std::chrono::seconds{1};
constexpr Duration kAnyWrite = std::chrono::milliseconds{4};
constexpr Duration kWithoutInotify = std::chrono::milliseconds{10};

}  // namespace

WakeUp::WakeUp(std::string wal_path)
    : wal_path_(std::move(wal_path)),
      notify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  arm();
}

WakeUp::~WakeUp() {
  if (notify_ >= 0) ::close(notify_);
  if (event_ >= 0) ::close(event_);
}

void WakeUp::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

bool WakeUp::take_wake() {
  std::uint64_t count = 0;
  return ::read(event_, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

void WakeUp::arm() {
  if (notify_ < 0) return;
  watch_ = inotify_add_watch(notify_, wal_path_.c_str(), IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF);
}

bool WakeUp::drain() {
  if (notify_ < 0) return false;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  bool any = false;
  bool replaced = watch_ < 0;
  for (ssize_t size = ::read(notify_, buffer.data(), buffer.size()); size > 0;
       size = ::read(notify_, buffer.data(), buffer.size())) {
    any = true;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      if ((event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)) != 0) replaced = true;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  if (replaced) arm();
  return any;
}

bool WakeUp::look_again(Connection& connection, std::int64_t seen, Duration how_long) {
  const auto start = steady_clock::now();
  for (;;) {
    if (connection.data_version() != seen) return true;
    const auto passed = steady_clock::now() - start;
    if (passed >= how_long) return false;
    std::this_thread::sleep_for(passed < kQuickPhase ? kQuickLook : kSlowLook);
  }
}

void WakeUp::block_until(Deadline deadline) {
  const auto left = std::max(deadline - steady_clock::now(), steady_clock::duration{0});
  auto wait = std::chrono::ceil<std::chrono::milliseconds>(left);
  if (watch_ < 0) wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(kWithoutInotify));
  std::array<pollfd, 2> fds{{{event_, POLLIN, 0}, {notify_, POLLIN, 0}}};
  ::poll(fds.data(), watch_ < 0 ? 1 : 2, static_cast<int>(std::min<std::int64_t>(wait.count(), 1'000'000)));
}

bool WakeUp::wait(Connection& connection, std::int64_t seen, Duration timeout) {
  const auto deadline = steady_clock::now() + timeout;
  Duration patience = kAnyWrite;
  for (;;) {
    if (take_wake()) return true;
    const bool written = drain();
    const auto left = std::chrono::duration_cast<Duration>(deadline - steady_clock::now());
    if (look_again(connection, seen, written ? std::clamp(left, Duration{0}, patience) : Duration{0})) return true;
    if (steady_clock::now() >= deadline) return false;
    block_until(deadline);
    patience = kOthersWrite;
  }
}

}  // namespace waybill::sqlite
