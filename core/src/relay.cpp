#include "waybill/relay.hpp"

#include <algorithm>

namespace waybill {
namespace {

void require(bool condition, const char* message) {
  if (!condition) throw ConfigError(message);
}

bool any_glob_matches(const std::vector<std::string>& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, text); });
}

bool is_failure(Command command) {
  return command == Command::fail || command == Command::reject || command == Command::expire;
}

std::optional<Timestamp> earlier(std::optional<Timestamp> a, std::optional<Timestamp> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

void InFlight::add(std::span<const Event> events) {
  const std::lock_guard lock(mutex_);
  for (const Event& event : events) tokens_.insert_or_assign(event.id, token_of(event));
}

void InFlight::remove(std::span<const Settlement> settlements) {
  const std::lock_guard lock(mutex_);
  for (const Settlement& settlement : settlements) {
    const auto found = tokens_.find(settlement.token.id);
    if (found != tokens_.end() && found->second == settlement.token) tokens_.erase(found);
  }
}

std::vector<Token> InFlight::tokens() const {
  const std::lock_guard lock(mutex_);
  std::vector<Token> copy;
  copy.reserve(tokens_.size());
  for (const auto& [id, token] : tokens_) copy.push_back(token);
  return copy;
}

std::size_t InFlight::size() const {
  const std::lock_guard lock(mutex_);
  return tokens_.size();
}

Relay::Relay(IEventRepository& repository, std::vector<Route> routes, RelayOptions options,
             std::function<double()> random, ITelemetry& telemetry, LogSink log)
    : repository_(repository),
      routes_(std::move(routes)),
      options_(std::move(options)),
      random_(std::move(random)),
      telemetry_(telemetry),
      log_(std::move(log)) {
  require(!routes_.empty(), "a relay needs at least one destination");
  require(options_.claim.limit > 0, "the batch must be at least 1");
  require(!options_.claim.owner.empty(), "the relay needs an owner name");
  require(options_.claim.lease > Duration{0}, "the lease must be longer than 0");
  require(options_.delivery_budget > Duration{0} && options_.delivery_budget < options_.claim.lease,
          "the delivery deadline must be shorter than the lease");
}

StepResult Relay::step() {
  StepResult result;
  const Timestamp now = last_time_ = repository_.now();
  recover(now, result);
  std::vector<Event> claimed;
  settle_and_claim(now, claimed, result);
  deliver(std::move(claimed), result);
  for (const Route& route : routes_) {
    if (result.finished.empty()) result.finished = route.transport->finished();
    if (route.breaker.state(now) == Breaker::State::open)
      result.next_due = earlier(result.next_due, route.breaker.probe_time());
  }
  return result;
}

Timestamp Relay::last_known_time() noexcept {
  try {
    last_time_ = repository_.now();
  } catch (const StorageError&) {
    // The next call of the store tells.
  }
  return last_time_;
}

StepResult Relay::finish() {
  StepResult result;
  if (outcomes_.empty()) return result;
  account(repository_.settle(outcomes_), result);
  return result;
}

// Events whose lease ran out: due at once, so that a crash costs one lease and one interval; the attempt counts, so
// that an event that kills its relay is dead in the end.
void Relay::recover(Timestamp now, StepResult& result) {
  const bool stepped_back = next_recovery_ && *next_recovery_ - now > options_.recovery_interval;
  if (next_recovery_ && now < *next_recovery_ && !stepped_back) return;
  const std::vector<ExpiredLease> leases = repository_.expired(options_.recovery_limit);
  next_recovery_ = now + options_.recovery_interval;
  if (leases.size() == options_.recovery_limit) next_recovery_ = now;  // there are more
  for (const ExpiredLease& lease : leases) {
    Settlement settlement{lease.token, Command::expire, now, "lease expired", cancels_dead(lease.event_type)};
    if (lease.retry_count + 1 >= lease.max_retry_count) settlement.next_retry_time.reset();
    outcomes_.push_back(std::move(settlement));
  }
  result.recovered += leases.size();
}

RouteFilter Relay::current_filter(Timestamp now) const {
  RouteFilter filter;
  for (const Route& route : routes_) filter.push_back({route.pattern, route.breaker.may_claim(now)});
  return filter;
}

void Relay::settle_and_claim(Timestamp now, std::vector<Event>& claimed, StepResult& result) {
  ClaimRequest request = options_.claim;
  request.routes = current_filter(now);
  const bool may_claim =
      !stop_.load(std::memory_order_relaxed) &&
      std::any_of(request.routes.begin(), request.routes.end(), [](const RouteRule& rule) { return rule.take; });
  ExchangeResult exchanged;
  if (!may_claim)
    exchanged.settled = outcomes_.empty() ? std::vector<SettleStatus>{} : repository_.settle(outcomes_);
  else if (outcomes_.empty())
    exchanged.claimed = repository_.claim(request);
  else
    exchanged = repository_.exchange(outcomes_, request);
  claimed = std::move(exchanged.claimed.events);
  in_flight_.add(claimed);
  account(exchanged.settled, result);
  result.claimed = claimed.size();
  result.looked = may_claim;
  result.more = exchanged.claimed.more;
  result.next_due = exchanged.claimed.next_due;
}

void Relay::account(std::span<const SettleStatus> statuses, StepResult& result) {
  for (std::size_t at = 0; at < statuses.size(); ++at) {
    const Settlement& settlement = outcomes_[at];
    if (statuses[at] == SettleStatus::fenced) {
      // Somebody else's recovery is no news to us.
      if (settlement.command == Command::expire) continue;
      ++result.fenced;
      telemetry_.count("events_fenced_total", {}, 1);
      log(LogLevel::warning, "event " + std::to_string(settlement.token.id) + ": the lease was lost before " +
                                 std::string(to_string(settlement.command)) +
                                 " was recorded; it may be delivered again");
    } else if (is_failure(settlement.command) && !settlement.next_retry_time) {
      ++result.dead;
      telemetry_.count("events_dead_total", {}, 1);
    }
  }
  in_flight_.remove(outcomes_);
  outcomes_.clear();
}

void Relay::deliver(std::vector<Event> claimed, StepResult& result) {
  if (claimed.empty()) return;
  std::vector<std::vector<Event>> by_route(routes_.size());
  for (Event& event : claimed) {
    const auto route = std::find_if(routes_.begin(), routes_.end(), [&](const Route& one) {
      return one.pattern.matches(event.publish_channel, event.topic.value_or(""));
    });
    if (route == routes_.end())
      release(event, result);  // cannot be: the claim's filter took only routed events
    else
      by_route[static_cast<std::size_t>(route - routes_.begin())].push_back(std::move(event));
  }
  const Timestamp started = last_known_time();
  for (std::size_t at = 0; at < routes_.size(); ++at) {
    if (by_route[at].empty()) continue;
    const Duration left = options_.delivery_budget - (last_known_time() - started);
    if (stop_.load(std::memory_order_relaxed) || left <= Duration{0})
      for (const Event& event : by_route[at]) release(event, result);
    else
      deliver_route(routes_[at], by_route[at], std::min(left, options_.delivery_budget), result);
  }
}

void Relay::deliver_route(Route& route, std::span<const Event> events, Duration budget, StepResult& result) {
  const Timestamp started = last_known_time();
  // After an outage one event goes first; the others follow when it got through.
  const bool probing = route.breaker.state(started) == Breaker::State::probing;
  const std::size_t first = probing ? 1 : events.size();
  std::vector<Outcome> outcomes = attempt(route, events.first(first), budget);
  const bool through = probing && outcomes.front().kind == Outcome::Kind::delivered;
  std::vector<Outcome> rest;
  if (through && events.size() > first) rest = attempt(route, events.subspan(first), budget);
  rest.resize(events.size() - first, Outcome::not_attempted("waits for the probe of its destination"));
  std::move(rest.begin(), rest.end(), std::back_inserter(outcomes));

  const Timestamp now = last_known_time();
  telemetry_.observe("delivery_seconds", route.name, now - started);
  const auto down = std::find_if(outcomes.begin(), outcomes.end(),
                                 [](const Outcome& one) { return one.kind == Outcome::Kind::unavailable; });
  if (down != outcomes.end()) {
    route.breaker.unavailable(now, down->reason, down->retry_after.value_or(Duration{0}));
    telemetry_.count("destination_unavailable_total", route.name, 1);
    log(LogLevel::warning,
        route.name + " is unavailable: " + down->reason + "; next try at " + format_time(route.breaker.probe_time()));
  } else if (std::any_of(outcomes.begin(), outcomes.end(),
                         [](const Outcome& one) { return one.kind != Outcome::Kind::not_attempted; })) {
    if (probing) log(LogLevel::info, route.name + " is available again");
    route.breaker.succeeded();
  }
  for (std::size_t at = 0; at < events.size(); ++at) keep(route, events[at], outcomes[at], now, result);
}

// A transport that throws something else than TransportError has a fault that one event may have caused: the events go
// one by one, so that only that one pays.
std::vector<Outcome> Relay::attempt(Route& route, std::span<const Event> events, Duration budget) {
  std::vector<Outcome> outcomes;
  try {
    outcomes = route.transport->deliver(events, budget);
  } catch (const TransportError& error) {
    outcomes.assign(events.size(), Outcome::unavailable(error.what()));
  } catch (const std::exception& error) {
    if (events.size() == 1) {
      outcomes.push_back(Outcome::retry(std::string("the transport failed: ") + error.what()));
      return outcomes;
    }
    StoppedAggregates stopped;
    for (const Event& event : events) {
      if (stopped.contains(event)) {
        outcomes.push_back(Outcome::not_attempted("waits for an earlier event of its aggregate"));
        continue;
      }
      outcomes.push_back(attempt(route, std::span(&event, 1), budget).front());
      if (outcomes.back().kind != Outcome::Kind::delivered) stopped.stop(event);
    }
  }
  if (outcomes.size() != events.size()) {
    log(LogLevel::error, route.name + ": the transport gave " + std::to_string(outcomes.size()) + " outcomes for " +
                             std::to_string(events.size()) + " events");
    outcomes.resize(events.size(), Outcome::not_attempted("the transport did not say"));
  }
  return outcomes;
}

void Relay::keep(Route& route, const Event& event, const Outcome& outcome, Timestamp now, StepResult& result) {
  Settlement settlement{token_of(event), Command::succeed, std::nullopt, outcome.reason,
                        cancels_dead(event.event_type)};
  switch (outcome.kind) {
    case Outcome::Kind::delivered:
      ++result.delivered;
      telemetry_.count("events_delivered_total", route.name, 1);
      break;
    case Outcome::Kind::retry:
      settlement.command = Command::fail;
      if (event.retry_count + 1 < event.max_retry_count)
        settlement.next_retry_time = route.retry.next_time(now, event.retry_count + 1, random_(), outcome.retry_after);
      ++result.retried;
      telemetry_.count("events_failed_total", route.name, 1);
      break;
    case Outcome::Kind::rejected:
      settlement.command = Command::reject;
      ++result.rejected;
      telemetry_.count("events_rejected_total", route.name, 1);
      break;
    case Outcome::Kind::unavailable:
    case Outcome::Kind::not_attempted:
      release(event, result);
      return;
  }
  outcomes_.push_back(std::move(settlement));
}

// Due as it was: a scheduled or retried event keeps its place among those.
void Relay::release(const Event& event, StepResult& result) {
  outcomes_.push_back(Settlement{token_of(event), Command::release, event.next_retry_time, {}, false});
  ++result.released;
}

bool Relay::cancels_dead(std::string_view event_type) const {
  return any_glob_matches(options_.cancel_dead, event_type) && !any_glob_matches(options_.critical, event_type);
}

void Relay::log(LogLevel level, const std::string& line) const {
  if (log_) log_(level, line);
}

}  // namespace waybill
