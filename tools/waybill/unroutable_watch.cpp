#include "unroutable_watch.hpp"

#include "routes.hpp"
#include "text.hpp"

namespace waybill::cli {
namespace {

constexpr std::chrono::minutes kEvery{1};

}  // namespace

void warn_unroutable(IEventQueries& store, const RouteFilter& routes, const LogSink& log) {
  try {
    const std::uint64_t count = count_unroutable(store, routes);
    if (count > 0)
      log(LogLevel::warning, counted(count, "event") + " unroutable: no --to takes their channel and topic");
  } catch (const StorageError& error) {
    log(LogLevel::warning, std::string{"looking for unroutable events: "} + error.what());
  }
}

UnroutableWatch::UnroutableWatch(const Session& session, RouteFilter routes)
    : session_(session), routes_(std::move(routes)) {
  if (!accepts_all(routes_)) thread_ = std::thread{[this] { loop(); }};
}

UnroutableWatch::~UnroutableWatch() {
  {
    const std::lock_guard lock{mutex_};
    ended_ = true;
  }
  ended_changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

/// False when the watch has ended.
bool UnroutableWatch::rest() {
  std::unique_lock lock{mutex_};
  return !ended_changed_.wait_for(lock, kEvery, [this] { return ended_; });
}

void UnroutableWatch::loop() {
  while (rest()) {
    try {
      warn_unroutable(*session_.open(OpenMode::read_only), routes_, session_.log());
    } catch (const std::exception& error) {
      session_.log()(LogLevel::warning, std::string{"looking for unroutable events: "} + error.what());
    }
  }
}

}  // namespace waybill::cli
