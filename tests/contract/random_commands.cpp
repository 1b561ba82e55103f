#include "contract/random_commands.hpp"

#include <chrono>
#include <ostream>
#include <sstream>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

namespace gen = rc::gen;

template <class T>
T any_of(std::initializer_list<T> choices) {
  return *gen::elementOf(std::vector<T>(choices));
}

bool one_in(int n) { return *gen::inRange(0, n) == 0; }

std::size_t any_connection() { return *gen::inRange<std::size_t>(0, Twins::kConnections); }

/// A time relative to the clock when the command runs.
using Offset = std::optional<Duration>;
std::optional<Timestamp> at(Timestamp now, const Offset& offset) {
  if (!offset) return std::nullopt;
  return now + *offset;
}
Offset any_offset() { return any_of<Offset>({std::nullopt, std::nullopt, 0s, 1s, 5s, 1min, -1s}); }

/// Few numbers, so that duplicates happen; the content follows from the number but for a rare conflict.
NewEvent any_event() {
  const int number = *gen::inRange(0, 40);
  NewEvent event = make_event("E" + std::to_string(number), std::string(1, static_cast<char>('A' + number % 5)));
  if (number % 7 == 0) event.aggregate_type = "PAYMENT";
  if (number % 3 == 0) event.topic = "pay.event";
  if (number % 8 == 1) event.topic.reset();
  if (number % 4 == 0) event.publish_channel = "HTTP";
  if (number % 6 == 0) event.event_type = "ORDER_PAID";
  event.trace_id = "t" + std::to_string(number % 3);
  if (one_in(10)) event.event_payload = "[1]";
  event.max_retry_count = any_of({5, 1, 0, 2});
  return event;
}

std::string any_owner() { return any_of<std::string>({"relay-a", "relay-b"}); }

RouteFilter any_routes() {
  const RouteRule mq{RoutePattern::parse("MQ:*"), true};
  const RouteRule not_pay{RoutePattern::parse("pay.*"), false};
  const RouteRule all{RoutePattern::parse("*:*"), true};
  return any_of<RouteFilter>({{}, {}, {}, {mq}, {not_pay, all}, {all}, {not_pay}});
}

ClaimRequest any_claim() {
  ClaimRequest request = claim_request(any_of<std::size_t>({20, 1, 2, 3, 5, 8}), any_owner());
  request.lease = any_of<Duration>({30s, 5s});
  request.ordering = any_of({Ordering::none, Ordering::aggregate, Ordering::aggregate});
  request.dead_head = any_of({DeadHead::block, DeadHead::skip});
  request.routes = any_routes();
  request.retry_percent = any_of({25U, 0U, 33U, 100U});
  return request;
}

EventFilter any_filter() {
  EventFilter filter;
  for (const Status status : kAllStatuses)
    if (one_in(4)) filter.statuses.push_back(status);
  if (one_in(4)) filter.dead = *gen::arbitrary<bool>();
  filter.due = one_in(6);
  filter.lease_expired = one_in(8);
  if (one_in(8)) filter.event_no = "E" + std::to_string(*gen::inRange(0, 40));
  if (one_in(6)) filter.aggregate_type = any_of<std::string>({"ORDER", "PAYMENT"});
  if (one_in(6)) filter.aggregate_id = any_of<std::string>({"A", "B"});
  if (one_in(6)) filter.event_type = any_of<std::string>({"ORDER_CREATED", "ORDER_PAID"});
  if (one_in(6)) filter.topic = any_of<std::string>({"order.event", "pay.event", ""});
  if (one_in(6)) filter.publish_channel = any_of<std::string>({"MQ", "HTTP"});
  if (one_in(6)) filter.trace_id = any_of<std::string>({"t0", "t1"});
  if (one_in(6)) filter.min_retry_count = *gen::inRange(0, 3);
  return filter;
}

std::size_t any_limit() { return any_of<std::size_t>({100, 1, 3, 0}); }

/// One token of those given out, mostly a late one, now and then tampered with.
struct TokenChoice {
  std::size_t from_back{*gen::inRange<std::size_t>(0, 12)};
  bool wrong_owner{one_in(20)};
  bool wrong_version{one_in(20)};

  [[nodiscard]] std::optional<HeldToken> pick(const Twins& twins) const {
    const auto& held = twins.held();
    if (held.empty()) return std::nullopt;
    HeldToken token = held[held.size() - 1 - from_back % held.size()];
    for (Token* side : {&token.reference, &token.subject}) {
      if (wrong_owner) side->owner = "nobody";
      if (wrong_version) ++side->version;
    }
    return token;
  }
};

std::ostream& operator<<(std::ostream& out, const TokenChoice& choice) {
  return out << "token -" << choice.from_back << (choice.wrong_owner ? " wrong owner" : "")
             << (choice.wrong_version ? " wrong version" : "");
}

struct SettlementChoice {
  TokenChoice token;
  Command command{
      any_of({Command::succeed, Command::fail, Command::fail, Command::reject, Command::release, Command::expire})};
  Offset next{any_offset()};
  bool cancel_if_dead{one_in(3)};
};

std::ostream& operator<<(std::ostream& out, const SettlementChoice& choice) {
  return out << to_string(choice.command) << ' ' << choice.token << " next "
             << (choice.next ? format_duration(*choice.next) : "none") << (choice.cancel_if_dead ? " cancel" : "");
}

std::vector<Twins::Settling> resolve(const std::vector<SettlementChoice>& choices, Twins& twins) {
  std::vector<Twins::Settling> settlings;
  for (const SettlementChoice& choice : choices)
    if (const auto token = choice.token.pick(twins))
      settlings.push_back(
          {*token, {{}, choice.command, at(twins.now(), choice.next), "it went wrong", choice.cancel_if_dead}});
  return settlings;
}

template <class T>
std::vector<T> some(std::size_t most) {
  std::vector<T> items(*gen::inRange<std::size_t>(1, most + 1));
  return items;
}

template <class T>
void list(std::ostream& out, const std::vector<T>& items) {
  for (const T& item : items) out << "\n      " << item;
}

void show_claim(std::ostream& out, const ClaimRequest& request) {
  out << " as " << request.owner << " limit " << request.limit << " lease " << format_duration(request.lease)
      << (request.ordering == Ordering::aggregate ? " ordered" : "")
      << (request.dead_head == DeadHead::skip ? " skip" : "") << " share " << request.retry_percent << " routes";
  for (const RouteRule& rule : request.routes) out << ' ' << rule.pattern.to_string() << (rule.take ? "" : "=no");
}

void show_filter(std::ostream& out, const EventFilter& filter) {
  for (const Status status : filter.statuses) out << ' ' << to_string(status);
  if (filter.dead) out << (*filter.dead ? " dead" : " not dead");
  if (filter.due) out << " due";
  if (filter.lease_expired) out << " lease expired";
  for (const auto* text : {&filter.event_no, &filter.aggregate_type, &filter.aggregate_id, &filter.event_type,
                           &filter.topic, &filter.publish_channel, &filter.trace_id})
    if (*text) out << " '" << **text << "'";
  if (filter.min_retry_count) out << " retries >= " << *filter.min_retry_count;
}

struct Append final : RandomCommand {
  struct Choice {
    NewEvent event{any_event()};
    Offset due{one_in(3) ? any_offset() : std::nullopt};
    Offset created{one_in(3) ? any_of<Offset>({-24h, -25h, -72h, 24h}) : std::nullopt};
  };
  std::size_t connection{any_connection()};
  std::vector<Choice> choices{some<Choice>(6)};

  void run(const NoModel&, Twins& twins) const override {
    std::vector<NewEvent> events;
    for (const Choice& choice : choices) {
      events.push_back(choice.event);
      events.back().next_retry_time = at(twins.now(), choice.due);
      events.back().create_time = at(twins.now(), choice.created);
    }
    twins.append(connection, events);
  }
  void show(std::ostream& out) const override {
    out << "append over " << connection;
    for (const Choice& choice : choices)
      out << "\n      " << choice.event.event_no << ' ' << choice.event.aggregate_id << " budget "
          << choice.event.max_retry_count << " due " << (choice.due ? format_duration(*choice.due) : "at once")
          << " created " << (choice.created ? format_duration(*choice.created) : "now") << ' '
          << choice.event.event_payload;
  }
};

struct Claim final : RandomCommand {
  std::size_t connection{any_connection()};
  ClaimRequest request{any_claim()};

  void run(const NoModel&, Twins& twins) const override { twins.claim(connection, request); }
  void show(std::ostream& out) const override {
    out << "claim over " << connection;
    show_claim(out, request);
  }
};

struct Settle final : RandomCommand {
  std::size_t connection{any_connection()};
  std::vector<SettlementChoice> choices{some<SettlementChoice>(6)};

  void run(const NoModel&, Twins& twins) const override { twins.settle(connection, resolve(choices, twins)); }
  void show(std::ostream& out) const override {
    out << "settle over " << connection;
    list(out, choices);
  }
};

struct Exchange final : RandomCommand {
  std::size_t connection{any_connection()};
  std::vector<SettlementChoice> choices{some<SettlementChoice>(6)};
  ClaimRequest request{any_claim()};

  void run(const NoModel&, Twins& twins) const override {
    twins.exchange(connection, resolve(choices, twins), request);
  }
  void show(std::ostream& out) const override {
    out << "exchange over " << connection;
    show_claim(out, request);
    list(out, choices);
  }
};

struct Extend final : RandomCommand {
  std::vector<TokenChoice> choices{some<TokenChoice>(4)};
  Duration lease{any_of<Duration>({10s, 1min})};

  void run(const NoModel&, Twins& twins) const override {
    std::vector<HeldToken> tokens;
    for (const TokenChoice& choice : choices)
      if (const auto token = choice.pick(twins)) tokens.push_back(*token);
    twins.extend(0, tokens, lease);
  }
  void show(std::ostream& out) const override {
    out << "extend by " << format_duration(lease);
    list(out, choices);
  }
};

struct Recover final : RandomCommand {
  std::size_t limit{any_limit()};
  Offset next{any_offset()};
  bool cancel_if_dead{one_in(3)};

  void run(const NoModel&, Twins& twins) const override {
    twins.recover(1, limit, at(twins.now(), next), cancel_if_dead);
  }
  void show(std::ostream& out) const override {
    out << "recover " << limit << " next " << (next ? format_duration(*next) : "none")
        << (cancel_if_dead ? " cancel" : "");
  }
};

struct ByHand final : RandomCommand {
  bool requeue{*gen::arbitrary<bool>()};
  EventFilter filter{any_filter()};
  std::size_t limit{any_limit()};

  void run(const NoModel&, Twins& twins) const override {
    requeue ? twins.requeue(filter, limit) : twins.cancel(filter, limit);
  }
  void show(std::ostream& out) const override {
    out << (requeue ? "requeue " : "cancel ") << limit << " of";
    show_filter(out, filter);
  }
};

struct CleanUp final : RandomCommand {
  bool purge{one_in(3)};
  Duration age{any_of<Duration>({0s, 5s, 1min})};
  std::size_t limit{any_limit()};

  void run(const NoModel&, Twins& twins) const override {
    purge ? twins.purge(twins.now() - age, limit) : twins.archive(twins.now() - age, limit);
  }
  void show(std::ostream& out) const override {
    out << (purge ? "purge " : "archive ") << limit << " older than " << format_duration(age);
  }
};

struct Rollup final : RandomCommand {
  std::size_t connection{any_connection()};
  std::size_t limit{any_of<std::size_t>({100, 1, 2})};

  void run(const NoModel&, Twins& twins) const override { twins.rollup(connection, limit); }
  void show(std::ostream& out) const override { out << "rollup " << limit << " over " << connection; }
};

struct Advance final : RandomCommand {
  Duration by{any_of<Duration>({1s, 5s, 10s, 30s, 1min, 1us, 3h})};

  void run(const NoModel&, Twins& twins) const override { twins.advance(by); }
  void show(std::ostream& out) const override { out << "advance by " << format_duration(by); }
};

struct Reopen final : RandomCommand {
  void run(const NoModel&, Twins& twins) const override {
    twins.reopen();
    twins.compare();
    twins.compare_finds();
  }
  void show(std::ostream& out) const override { out << "reopen"; }
};

struct Ask final : RandomCommand {
  EventFilter filter{any_filter()};
  std::size_t limit{any_limit()};
  bool newest_first{*gen::arbitrary<bool>()};
  std::string after{one_in(3) ? "E" + std::to_string(*gen::inRange(0, 40)) : ""};
  Offset from{any_offset()};
  Offset until{any_offset()};

  void run(const NoModel&, Twins& twins) const override {
    EventFilter asked = filter;
    asked.created_from = at(ManualClock::kStart, from);
    asked.created_until = at(twins.now(), until);
    Page page;
    page.limit = limit;
    page.newest_first = newest_first;
    twins.query(asked, page, after);
    twins.stats({asked.event_type, asked.topic, asked.created_from, asked.created_until});
  }
  void show(std::ostream& out) const override {
    out << "query" << (newest_first ? " newest " : " oldest ") << limit << " after '" << after << "'";
    show_filter(out, filter);
  }
};

template <class Cmd>
rc::Gen<std::shared_ptr<const RandomCommand>> make() {
  return gen::exec([] { return std::shared_ptr<const RandomCommand>(std::make_shared<const Cmd>()); });
}

}  // namespace

rc::Gen<std::shared_ptr<const RandomCommand>> random_command(const NoModel&) {
  return gen::weightedOneOf<std::shared_ptr<const RandomCommand>>({{5, make<Append>()},
                                                                   {5, make<Claim>()},
                                                                   {4, make<Settle>()},
                                                                   {3, make<Exchange>()},
                                                                   {4, make<Advance>()},
                                                                   {1, make<Extend>()},
                                                                   {2, make<Recover>()},
                                                                   {2, make<ByHand>()},
                                                                   {2, make<CleanUp>()},
                                                                   {2, make<Rollup>()},
                                                                   {2, make<Ask>()},
                                                                   {1, make<Reopen>()}});
}

}  // namespace waybill::test
