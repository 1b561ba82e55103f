#pragma once
// Relay::step() with threads, waiting, heartbeats, back-off and shutdown around it.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "waybill/relay.hpp"

namespace waybill {

struct RunnerOptions {
  RelayOptions relay;  ///< claim.owner is extended by the worker's number
  unsigned workers{1};
  Duration poll{std::chrono::seconds{1}};                ///< longest wait between two looks; the wake-up is only a hint
  Duration shutdown_deadline{std::chrono::seconds{10}};  ///< for the deliveries under way when stop() is called
  bool drain{false};                                     ///< end when nothing is left to do now
};

/// The sums over all workers' steps.
struct RunSummary {
  StepResult total;
  std::string finished;      ///< why a destination is gone for good; empty otherwise
  bool breaker_open{false};  ///< drained, but a destination was down
  std::string store_error;   ///< drain only: the store error that ended the run; empty otherwise
  bool stuck{false};         ///< a delivery did not end within the shutdown deadline; its events were released
};

/// Owns its workers. run() blocks; stop() may come from any thread. After a run that is `stuck` the destructor waits
/// for the delivery; a process that wants to end at once calls std::quick_exit instead.
class RelayRunner {
 public:
  using OpenRepository = std::function<std::unique_ptr<IEventRepository>()>;
  using OpenRoutes = std::function<std::vector<Route>()>;

  /// `open_repository` and `open_routes` are called once per worker (and once more for the heartbeat).
  RelayRunner(OpenRepository open_repository, OpenRoutes open_routes, RunnerOptions options, ITelemetry& telemetry,
              LogSink log = {});
  ~RelayRunner();

  /// Until stop(), or with `drain` until nothing is left to do now, or until a destination is gone for good.
  /// A store error is logged, waited out (100 ms doubling to 5 s) and tried again; the loop never dies of it. But a
  /// drain ends on an error that waiting can't mend (corrupt, schema, denied, invalid). Only errors while opening are
  /// thrown (StorageError, ConfigError, TransportError).
  [[nodiscard]] RunSummary run();
  /// Stop claiming, finish what is under way within the deadline, release the rest. Thread-safe.
  void stop() noexcept;

 private:
  class Worker;
  void work(Worker& worker);
  [[nodiscard]] bool step(Worker& worker);
  void finish(Worker& worker);
  void heartbeat(IEventRepository& repository);
  void await_workers(IEventRepository& keeper);
  void merge(const StepResult& step);
  /// Sleeps, but not beyond stop().
  void pause(Duration length);
  void log(LogLevel level, const std::string& line) const;
  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(); }

  OpenRepository open_repository_;
  OpenRoutes open_routes_;
  RunnerOptions options_;
  ITelemetry& telemetry_;
  LogSink log_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable changed_;  ///< stopping_, a worker's end
  RunSummary summary_;
  std::size_t running_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// While it lives, SIGINT and SIGTERM call `on_signal` (on a thread of its own) instead of ending the process. Make it
/// before any other thread is started: it blocks the signals for all of them.
class StopOnSignals {
 public:
  explicit StopOnSignals(std::function<void(int)> on_signal);
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waybill
