#include "sqlite/sqlite_wakeup.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

namespace waybill::sqlite {
namespace {

using std::chrono::steady_clock;

constexpr Duration kShortestNap{50};
constexpr Duration kLongestNap = std::chrono::milliseconds{20};
// As long as a sync may take on a slow card.
constexpr Duration kLongestSync = std::chrono::seconds{2};
constexpr Duration kLongestWait = std::chrono::hours{24 * 365};  // no overflow beyond
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

void WakeUp::rearm() {
  if (watch_ >= 0) inotify_rm_watch(notify_, watch_);
  arm();
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

void WakeUp::block(Deadline deadline, bool quiet) {
  const auto left = std::max(deadline - steady_clock::now(), steady_clock::duration{0});
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds);
  const timespec wait{static_cast<std::time_t>(seconds.count()), static_cast<long>(rest.count())};
  std::array<pollfd, 2> fds{{{event_, POLLIN, 0}, {notify_, POLLIN, 0}}};
  ::ppoll(fds.data(), quiet ? 2 : 1, &wait, nullptr);
}

bool WakeUp::wait(Connection& connection, std::int64_t seen, Duration timeout) {
  const auto deadline = steady_clock::now() + std::min(timeout, kLongestWait);
  std::optional<Deadline> written;
  for (;;) {
    if (take_wake()) return true;
    if (drain()) written = steady_clock::now();
    if (connection.data_version() != seen) return true;
    const auto now = steady_clock::now();
    if (now >= deadline) return false;
    if (written && now - *written > kLongestSync) written.reset();
    if (written) {
      const auto nap = std::clamp(std::chrono::duration_cast<Duration>(now - *written) / 16, kShortestNap, kLongestNap);
      block(std::min<Deadline>(deadline, now + nap), false);
    } else if (watch_ < 0) {
      block(std::min<Deadline>(deadline, now + kWithoutInotify), false);
    } else {
      block(deadline, true);
    }
  }
}

}  // namespace waybill::sqlite
