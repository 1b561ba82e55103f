#include "waybill/relay_runner.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace waybill {
namespace {

using std::chrono::steady_clock;

constexpr Duration kFirstBackoff = std::chrono::milliseconds{100};
constexpr Duration kLongestBackoff = std::chrono::seconds{5};

std::function<double()> random_source() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
}

bool waiting_helps(ErrorCode code) {
  return code == ErrorCode::busy || code == ErrorCode::unavailable || code == ErrorCode::outcome_unknown ||
         code == ErrorCode::full;
}

void add(StepResult& sum, const StepResult& step) {
  sum.claimed += step.claimed;
  sum.delivered += step.delivered;
  sum.retried += step.retried;
  sum.rejected += step.rejected;
  sum.released += step.released;
  sum.dead += step.dead;
  sum.fenced += step.fenced;
  sum.recovered += step.recovered;
  sum.next_due = step.next_due;
}

}  // namespace

/// One thread with its own repository, transports and relay.
class RelayRunner::Worker {
 public:
  Worker(std::unique_ptr<IEventRepository> store, std::vector<Route> routes, const RelayOptions& options,
         ITelemetry& telemetry, const LogSink& log)
      : repository(std::move(store)), relay(*repository, std::move(routes), options, random_source(), telemetry, log) {}

  std::unique_ptr<IEventRepository> repository;
  Relay relay;
  Duration backoff{kFirstBackoff};
  std::atomic<bool> ended{false};
  std::thread thread;
};

RelayRunner::RelayRunner(OpenRepository open_repository, OpenRoutes open_routes, RunnerOptions options,
                         ITelemetry& telemetry, LogSink log)
    : open_repository_(std::move(open_repository)),
      open_routes_(std::move(open_routes)),
      options_(std::move(options)),
      telemetry_(telemetry),
      log_(std::move(log)) {
  if (options_.workers == 0) throw ConfigError("a relay needs at least one worker");
}

RelayRunner::~RelayRunner() {
  stop();
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

RunSummary RelayRunner::run() {
  {
    const std::lock_guard lock(mutex_);
    for (unsigned number = 0; number < options_.workers; ++number) {
      RelayOptions options = options_.relay;
      if (options_.workers > 1) options.claim.owner += "/" + std::to_string(number);
      workers_.push_back(std::make_unique<Worker>(open_repository_(), open_routes_(), options, telemetry_, log_));
    }
  }
  const std::unique_ptr<IEventRepository> keeper = open_repository_();
  running_ = workers_.size();
  for (const auto& worker : workers_) worker->thread = std::thread([this, &worker] { work(*worker); });
  await_workers(*keeper);
  for (const auto& worker : workers_) {
    if (!worker->ended) continue;
    worker->thread.join();
    const Timestamp now = worker->repository->now();
    for (const Route& route : worker->relay.routes())
      if (options_.drain && route.breaker.state(now) != Breaker::State::closed) summary_.breaker_open = true;
  }
  const std::lock_guard lock(mutex_);
  return summary_;
}

void RelayRunner::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopping_.store(true);
  for (const auto& worker : workers_) {
    worker->relay.request_stop();
    worker->repository->wake();
  }
  changed_.notify_all();
}

// Beats until all workers have ended, or until stop() and then the shutdown deadline.
void RelayRunner::await_workers(IEventRepository& keeper) {
  const auto interval = std::max<Duration>(options_.relay.claim.lease / 3, std::chrono::milliseconds{1});
  std::optional<steady_clock::time_point> give_up;
  auto next_beat = steady_clock::now() + interval;
  std::unique_lock lock(mutex_);
  while (running_ > 0) {
    if (stopping() && !give_up) give_up = steady_clock::now() + options_.shutdown_deadline;
    const auto until = give_up ? std::min(*give_up, next_beat) : next_beat;
    changed_.wait_until(lock, until, [&] { return running_ == 0 || (stopping() && !give_up); });
    if (running_ == 0) break;
    const auto now = steady_clock::now();
    if (give_up && now >= *give_up) {
      summary_.stuck = true;
      break;
    }
    if (now < next_beat) continue;
    next_beat = now + interval;
    lock.unlock();
    heartbeat(keeper);
    lock.lock();
  }
  if (!summary_.stuck) return;
  lock.unlock();
  std::vector<Settlement> releases;
  for (const auto& worker : workers_)
    for (const Token& token : worker->relay.in_flight().tokens())
      releases.push_back({token, Command::release, std::nullopt, {}, false});
  log(LogLevel::error, "a delivery did not end within the shutdown deadline; " + std::to_string(releases.size()) +
                           " events were released");
  try {
    (void)keeper.settle(releases);
  } catch (const StorageError& error) {
    log(LogLevel::error, std::string("release: ") + error.what() + "; the leases will run out");
  }
}

// Extends what is under way; a batch that is claimed and settled between two beats is extended once at most.
void RelayRunner::heartbeat(IEventRepository& keeper) {
  std::vector<Token> tokens;
  for (const auto& worker : workers_)
    for (Token& token : worker->relay.in_flight().tokens()) tokens.push_back(std::move(token));
  if (tokens.empty()) return;
  try {
    const std::vector<SettleStatus> statuses = keeper.extend(tokens, options_.relay.claim.lease);
    const auto lost = std::count(statuses.begin(), statuses.end(), SettleStatus::fenced);
    telemetry_.count("leases_extended_total", {}, tokens.size() - static_cast<std::size_t>(lost));
  } catch (const std::exception& error) {
    log(LogLevel::warning, std::string("heartbeat: ") + error.what());
  }
}

void RelayRunner::work(Worker& worker) {
  while (!stopping()) {
    try {
      if (!step(worker)) break;
      worker.backoff = kFirstBackoff;
    } catch (const std::exception& error) {
      log(LogLevel::error, std::string("relay: ") + error.what());
      telemetry_.count("store_errors_total", {}, 1);
      const auto* storage = dynamic_cast<const StorageError*>(&error);
      if (options_.drain && storage != nullptr && !waiting_helps(storage->code())) {
        const std::lock_guard lock(mutex_);
        summary_.store_error = error.what();
        break;
      }
      pause(worker.backoff);
      worker.backoff = std::min(worker.backoff * 2, kLongestBackoff);
    }
  }
  finish(worker);
  worker.ended = true;
  const std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

// One step, and the wait after it when there was nothing to do. False: this worker is done.
bool RelayRunner::step(Worker& worker) {
  const StepResult result = worker.relay.step();
  merge(result);
  telemetry_.count("relay_steps_total", {}, 1);
  if (!result.finished.empty()) {
    stop();
    return false;
  }
  if (result.claimed > 0 || result.more || !worker.relay.settled()) return true;
  if (options_.drain) return false;
  Duration wait = options_.poll;
  // Leases run out without a commit that would wake us. An interval of 0 means: at each look.
  const Duration recovery = options_.relay.recovery_interval;
  if (recovery > Duration{0}) wait = std::min(wait, recovery);
  if (result.next_due) wait = std::clamp(*result.next_due - worker.repository->now(), Duration{0}, wait);
  if (stopping()) return true;
  // A store calls every commit since the last claim news: without a claim it would never let us rest.
  if (result.looked)
    worker.repository->wait_for_work(wait);
  else
    pause(wait);
  return true;
}

void RelayRunner::finish(Worker& worker) {
  const auto give_up = steady_clock::now() + options_.shutdown_deadline;
  for (;;) {
    try {
      merge(worker.relay.finish());
      return;
    } catch (const std::exception& error) {
      const auto* storage = dynamic_cast<const StorageError*>(&error);
      const bool again = storage != nullptr && waiting_helps(storage->code()) && steady_clock::now() < give_up;
      log(LogLevel::error,
          std::string("settle at the end: ") + error.what() +
              (again ? "" : "; the leases will run out, and what was delivered will be delivered again"));
      if (!again) return;
    }
    std::this_thread::sleep_for(kFirstBackoff);
  }
}

void RelayRunner::merge(const StepResult& step) {
  const std::lock_guard lock(mutex_);
  add(summary_.total, step);
  if (summary_.finished.empty()) summary_.finished = step.finished;
}

void RelayRunner::pause(Duration length) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, length, [&] { return stopping(); });
}

void RelayRunner::log(LogLevel level, const std::string& line) const {
  if (log_) log_(level, line);
}

}  // namespace waybill
