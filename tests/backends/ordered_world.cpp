#include "backends/ordered_world.hpp"

#include <algorithm>

#include "waybill/lifecycle.hpp"
#include "waybill/routing.hpp"

namespace waybill::test {
namespace {

constexpr Duration kLease = std::chrono::hours{10'000};
constexpr Duration kLongestRest = 61s;  // a sweep of the store rests at most a minute

RouteFilter all_but(const std::string& topic) {
  RouteRule down;
  down.pattern.topic = topic;
  down.take = false;
  return {down, RouteRule{}};
}

}  // namespace

OrderedWorld::OrderedWorld(const WorldOptions& options) : options_(options), engine_(options.seed) {
  operator_ = file_.create();
  for (std::size_t i = 0; i < relays_.size(); ++i) {
    relays_[i].owner = "relay-" + std::to_string(i);
    relays_[i].store = file_.open();
  }
  append_aggregates("blocked", options_.blocked_aggregates, options_.followers + 1);
  block_fronts(options_.blocked_aggregates);
  append_aggregates("healthy", options_.healthy_aggregates, options_.healthy_events);
  if (options_.all_timed) make_all_timed();
  if (!options_.start_with_one_down) return;
  for (Relay& relay : relays_) relay.routes = all_but(topic_of(0));
}

int OrderedWorld::between(int low, int high) { return std::uniform_int_distribution<int>{low, high}(engine_); }

void OrderedWorld::append_events(std::vector<NewEvent> events) {
  const auto results = operator_->append(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    REQUIRE(results[i].status == AppendStatus::inserted);
    Event event;
    static_cast<EventContent&>(event) = events[i];
    event.id = results[i].id;
    event.max_retry_count = events[i].max_retry_count;
    event.next_retry_time = events[i].next_retry_time;
    members_[key_of(event)].push_back(event.id);
    events_[event.id] = std::move(event);
  }
}

/// Followers of one aggregate lie apart: all first events, then all second ones, and so on.
void OrderedWorld::append_aggregates(const std::string& prefix, int aggregates, int each) {
  for (int follower = 0; follower < each; ++follower) {
    std::vector<NewEvent> events;
    for (int i = 0; i < aggregates; ++i) {
      events.push_back(make_event("E" + std::to_string(++appended_), prefix + std::to_string(i)));
      events.back().topic = topic_of(i);
      events.back().max_retry_count = 3;
    }
    append_events(std::move(events));
  }
}

/// The first event of each aggregate is held, waits for a retry or is dead, in turn.
void OrderedWorld::block_fronts(int aggregates) {
  Relay& relay = relays_[0];
  const auto limit = static_cast<std::size_t>(aggregates);
  while (relay.held.size() < limit) REQUIRE(claim(relay, limit - relay.held.size(), false) > 0);
  std::vector<Settlement> settlements;
  for (std::size_t i = 0; i < relay.held.size(); ++i) {
    if (i % 3 == 0) continue;
    Settlement settlement = settlement_of(relay.held[i], i % 3 == 1 ? Command::fail : Command::reject);
    settlement.next_retry_time = now() + std::chrono::seconds{between(1, 600)};
    settlement.reason = "refused";
    settlements.push_back(settlement);
  }
  settled(relay, settlements, relay.store->settle(settlements));
}

/// Takes whole aggregates as runs and gives all but their first events back for some time in the next two minutes.
void OrderedWorld::make_all_timed() {
  Relay& relay = relays_[0];
  while (claim(relay, events_.size(), false) > 0) {
  }
  std::vector<Settlement> settlements;
  for (const Event& event : relay.held) {
    if (event.id == members_.at(key_of(event)).front()) continue;
    Settlement settlement = settlement_of(event, percent(50) ? Command::fail : Command::release);
    settlement.next_retry_time = now() + 1s * between(0, 120);
    settlement.reason = "refused";
    settlements.push_back(settlement);
  }
  settled(relay, settlements, relay.store->settle(settlements));
}

ClaimRequest OrderedWorld::request_of(const Relay& relay, std::size_t limit) const {
  ClaimRequest request = claim_request(limit, relay.owner);
  request.lease = kLease;
  request.ordering = options_.ordering;
  request.dead_head = options_.dead_head;
  request.routes = relay.routes;
  return request;
}

std::size_t OrderedWorld::claim(Relay& relay, std::size_t limit, bool with_settlements) {
  const ClaimRequest request = request_of(relay, limit);
  ClaimResult result;
  if (with_settlements) {
    const std::vector<Settlement> settlements = random_settlements(relay);
    ExchangeResult both = relay.store->exchange(settlements, request);
    settled(relay, settlements, both.settled);
    result = std::move(both.claimed);
  } else {
    result = relay.store->claim(request);
  }
  check_claimed(relay, request, result);
  stopped_early_ += result.more;
  return result.more ? std::max<std::size_t>(result.events.size(), 1) : result.events.size();
}

void OrderedWorld::check_claimed(Relay& relay, const ClaimRequest& request, const ClaimResult& result) {
  INFO("step " << steps_ << ", claim by " << relay.owner);
  REQUIRE(result.events.size() <= request.limit);
  std::set<std::int64_t> taken;
  for (const Event& event : result.events) taken.insert(event.id);
  REQUIRE(taken.size() == result.events.size());
  REQUIRE(std::is_sorted(result.events.begin(), result.events.end(),
                         [](const Event& a, const Event& b) { return a.id < b.id; }));
  for (const Event& event : result.events) {
    INFO("event " << event.event_no << " of " << event.aggregate_id);
    const Event& expected = model(event.id);
    REQUIRE(is_claimable(expected, now()));
    REQUIRE(accepts(request.routes, expected.publish_channel, expected.topic));
    if (options_.ordering == Ordering::aggregate) REQUIRE_FALSE(blocked(expected, taken));
  }
  for (const Event& event : result.events) {
    Event& expected = model(event.id);
    REQUIRE(apply(expected, CommandInput{Command::claim, now(), relay.owner, 0, kLease, {}, {}}));
    REQUIRE(static_cast<const DeliveryState&>(event) == static_cast<const DeliveryState&>(expected));
    relay.held.push_back(event);
  }
  claimed_ += static_cast<int>(taken.size());
}

bool OrderedWorld::blocked(const Event& event, const std::set<std::int64_t>& taken_with_it) const {
  for (const std::int64_t id : members_.at(key_of(event))) {
    if (id >= event.id) return false;
    const Event& earlier = events_.at(id);
    if (is_final(earlier.publish_status) || taken_with_it.count(id) != 0) continue;
    if (options_.dead_head == DeadHead::skip && is_dead(earlier)) continue;
    return true;
  }
  return false;
}

bool OrderedWorld::may_be_claimed(const Event& event, const RouteFilter& routes) const {
  return is_claimable(event, now()) && accepts(routes, event.publish_channel, event.topic) &&
         (options_.ordering == Ordering::none || !blocked(event, {}));
}

std::vector<std::string> OrderedWorld::claimable(const RouteFilter& routes) const {
  std::vector<std::string> numbers;
  for (const auto& [id, event] : events_)
    if (may_be_claimed(event, routes)) numbers.push_back(event.event_no);
  return numbers;
}

std::vector<Settlement> OrderedWorld::random_settlements(Relay& relay) {
  std::shuffle(relay.held.begin(), relay.held.end(), engine_);
  const int most = static_cast<int>(relay.held.size());
  const auto count = static_cast<std::size_t>(percent(20) ? most : between(0, std::min(most, 60)));
  std::vector<Settlement> settlements;
  for (std::size_t i = 0; i < count; ++i) {
    const int kind = between(1, 100);
    const Command command = kind <= 70   ? Command::succeed
                            : kind <= 85 ? Command::fail
                            : kind <= 90 ? Command::reject
                                         : Command::release;
    Settlement settlement = settlement_of(relay.held[i], command);
    settlement.reason = "refused";
    settlement.cancel_if_dead = percent(30);
    if (command == Command::fail || percent(30)) settlement.next_retry_time = now() + 1s * between(0, 60);
    settlements.push_back(settlement);
  }
  return settlements;
}

void OrderedWorld::settled(Relay& relay, const std::vector<Settlement>& settlements,
                           const std::vector<SettleStatus>& statuses) {
  REQUIRE(statuses.size() == settlements.size());
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    const Settlement& one = settlements[i];
    Event& expected = model(one.token.id);
    INFO("step " << steps_ << ", " << to_string(one.command) << " of " << expected.event_no);
    REQUIRE(statuses[i] == SettleStatus::applied);
    REQUIRE(apply(
        expected,
        CommandInput{one.command, now(), one.token.owner, one.token.version, {}, one.next_retry_time, one.reason}));
    if (one.cancel_if_dead && is_dead(expected)) expected.publish_status = Status::cancelled;
    const auto held = std::find_if(relay.held.begin(), relay.held.end(),
                                   [&](const Event& event) { return event.id == one.token.id; });
    relay.held.erase(held);
  }
}

void OrderedWorld::settle_some(Relay& relay) {
  const std::vector<Settlement> settlements = random_settlements(relay);
  settled(relay, settlements, relay.store->settle(settlements));
}

void OrderedWorld::change_routes(Relay& relay) {
  relay.routes = percent(50) ? RouteFilter{} : all_but(topic_of(between(0, options_.topics - 1)));
}

/// Requeues or cancels an aggregate's events, a few or all; or appends to it.
void OrderedWorld::operate() {
  auto chosen = members_.begin();
  std::advance(chosen, between(0, static_cast<int>(members_.size()) - 1));
  if (percent(30)) {
    NewEvent event = make_event("E" + std::to_string(++appended_), chosen->first);
    event.topic = events_.at(chosen->second.front()).topic;
    event.max_retry_count = 3;
    if (percent(30)) event.next_retry_time = now() + 1s * between(0, 60);
    append_events({event});
    return;
  }
  const Command command = percent(75) ? Command::requeue : Command::cancel;
  const auto limit = static_cast<std::size_t>(between(1, 5));
  EventFilter filter;
  filter.aggregate_type = "ORDER";
  filter.aggregate_id = chosen->first;
  std::size_t expected = 0;
  for (const std::int64_t id : chosen->second) {
    if (expected == limit) break;
    expected += apply(model(id), CommandInput{command, now(), {}, 0, {}, {}, "not wanted"});
  }
  INFO("step " << steps_ << ", " << to_string(command) << " in " << chosen->first);
  REQUIRE((command == Command::requeue ? operator_->requeue(filter, limit)
                                       : operator_->cancel(filter, "not wanted", limit)) == expected);
}

void OrderedWorld::step() {
  ++steps_;
  Relay& relay = relays_[static_cast<std::size_t>(between(0, 1))];
  const auto limit = static_cast<std::size_t>(between(1, 60));
  const int kind = between(1, 100);
  if (kind <= 35) {
    (void)claim(relay, limit, false);
  } else if (kind <= 55) {
    (void)claim(relay, limit, true);
  } else if (kind <= 70) {
    settle_some(relay);
  } else if (kind <= 85) {
    operate();
  } else if (kind <= 90 && options_.change_routes) {
    change_routes(relay);
  } else {
    file_.clock->advance(kind >= 99 ? kLongestRest : 1ms * between(1, 3000));
  }
}

void OrderedWorld::check_all_found() {
  for (Relay& relay : relays_) {
    for (int round = 0; round < 3; ++round) {
      file_.clock->advance(kLongestRest);
      for (int claims = 0; claim(relay, 100, false) > 0; ++claims) {
        INFO("step " << steps_ << ": " << relay.owner << " claims for ever");
        REQUIRE(claims < 1000);
      }
    }
    INFO("step " << steps_ << ": not found by " << relay.owner);
    REQUIRE(claimable(relay.routes) == std::vector<std::string>{});
  }
}

void OrderedWorld::succeed_all_held() {
  for (Relay& relay : relays_) {
    std::vector<Settlement> settlements;
    for (const Event& event : relay.held) settlements.push_back(settlement_of(event, Command::succeed));
    settled(relay, settlements, relay.store->settle(settlements));
  }
}

void OrderedWorld::drain() {
  for (Relay& relay : relays_) relay.routes = {};
  const auto unsettled = [&] {
    return std::count_if(events_.begin(), events_.end(),
                         [](const auto& entry) { return !is_final(entry.second.publish_status); });
  };
  for (int round = 0; unsettled() != 0; ++round) {
    INFO("step " << steps_ << ", round " << round << ": " << unsettled() << " events are left");
    REQUIRE(round < 2000);
    succeed_all_held();
    std::size_t found = claim(relays_[0], 200, false);
    found += claim(relays_[1], 200, false);
    if (found != 0) continue;
    file_.clock->advance(kLongestRest);
    for (auto& [id, event] : events_) (void)apply(event, CommandInput{Command::requeue, now(), {}, 0, {}, {}, {}});
    while (operator_->requeue({}, 1000) != 0) {
    }
  }
}

}  // namespace waybill::test
