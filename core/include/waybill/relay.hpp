#pragma once
// The relay's loop body: recover, settle and claim, deliver. No thread, no clock, no sleep, no randomness of its own.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "waybill/breaker.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/retry_policy.hpp"
#include "waybill/telemetry.hpp"
#include "waybill/transport.hpp"

namespace waybill {

/// Where matching events go.
struct Route {
  RoutePattern pattern;
  std::string name;  ///< for logs and metrics: pattern and redacted URL
  std::unique_ptr<ITransport> transport;
  RetryPolicy retry{};
  Breaker breaker{};
};

struct RelayOptions {
  ClaimRequest claim;  ///< owner, limit, lease, ordering, dead_head, retry_percent; `routes` is filled in by the relay
  Duration recovery_interval{std::chrono::seconds{1}};  ///< how often expired leases are looked for
  std::size_t recovery_limit{100};                      ///< expired leases handled at a time
  Duration delivery_budget{std::chrono::seconds{20}};   ///< must be shorter than the lease
  std::vector<std::string> cancel_dead;                 ///< event-type globs: dead events are cancelled
  std::vector<std::string> critical;  ///< event-type globs: never cancelled automatically, whatever cancel_dead says
};

/// Tokens between claim and settle, for the heartbeat. Thread-safe.
class InFlight {
 public:
  void add(std::span<const Event> events);
  void remove(std::span<const Settlement> settlements);
  [[nodiscard]] std::vector<Token> tokens() const;
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, Token> tokens_;
};

/// What one step did.
struct StepResult {
  std::size_t claimed{0};
  std::size_t delivered{0};
  std::size_t retried{0};             ///< failed, to be tried again (or dead when the budget is used up)
  std::size_t rejected{0};            ///< permanent
  std::size_t released{0};            ///< unavailable or not attempted
  std::size_t dead{0};                ///< of retried, rejected and recovered: now dead
  std::size_t fenced{0};              ///< settlements that came too late
  std::size_t recovered{0};           ///< expired leases taken back
  bool more{false};                   ///< step again at once
  bool looked{true};                  ///< false: every route was shut, so nothing was looked for
  std::optional<Timestamp> next_due;  ///< when something will be due or a probe may run
  std::string finished;               ///< a destination is gone for good: stop, and say this
};

/// Thread-confined. The repository must outlive it.
class Relay {
 public:
  /// `random` gives numbers in [0, 1) for jitter. Throws ConfigError for options that contradict each other.
  Relay(IEventRepository& repository, std::vector<Route> routes, RelayOptions options, std::function<double()> random,
        ITelemetry& telemetry, LogSink log = {});

  /// One round. On a StorageError everything delivered is kept and settled by the next step.
  [[nodiscard]] StepResult step();
  /// Settles what was delivered and gives back what was claimed and not delivered; claims nothing. No attempt counted.
  StepResult finish();

  [[nodiscard]] InFlight& in_flight() noexcept { return in_flight_; }
  [[nodiscard]] const std::vector<Route>& routes() const noexcept { return routes_; }
  /// True when nothing claimed or delivered waits to be settled.
  [[nodiscard]] bool settled() const noexcept { return outcomes_.empty(); }
  /// Stops the delivery of further routes' batches within the running step; the rest is released. Thread-safe.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

 private:
  /// The store's time; while the store does not answer, the last it said: an outcome must not be lost for want of it.
  [[nodiscard]] Timestamp last_known_time() noexcept;
  [[nodiscard]] RouteFilter current_filter(Timestamp now) const;
  void recover(Timestamp now, StepResult& result);
  void settle_and_claim(Timestamp now, std::vector<Event>& claimed, StepResult& result);
  void account(std::span<const SettleStatus> statuses, StepResult& result);
  void deliver(std::vector<Event> claimed, StepResult& result);
  void deliver_route(Route& route, std::span<const Event> events, Duration budget, StepResult& result);
  void keep(Route& route, const Event& event, const Outcome& outcome, Timestamp now, StepResult& result);
  void release(const Event& event, StepResult& result);
  [[nodiscard]] bool cancels_dead(std::string_view event_type) const;
  [[nodiscard]] std::vector<Outcome> attempt(Route& route, std::span<const Event> events, Duration budget);
  void log(LogLevel level, const std::string& line) const;

  IEventRepository& repository_;
  std::vector<Route> routes_;
  RelayOptions options_;
  std::function<double()> random_;
  ITelemetry& telemetry_;
  LogSink log_;
  InFlight in_flight_;
  std::vector<Settlement> outcomes_;  ///< delivered or failed, not settled yet
  std::optional<Timestamp> next_recovery_;
  Timestamp last_time_{};
  std::atomic<bool> stop_{false};
};

}  // namespace waybill
