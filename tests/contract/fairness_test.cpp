// Nobody is starved: while two kinds of due events flood the store, the third moves in a bounded number of claims.

#include <algorithm>
#include <array>
#include <map>

#include "contract/contract_fixture.hpp"
#include "support/property.hpp"

namespace waybill::test {
namespace {

enum class Kind { retry, scheduled, fresh };
constexpr std::array kKinds{Kind::retry, Kind::scheduled, Kind::fresh};

/// A store in which each kind of event can be made to be there in plenty. The names of the victims start with V.
class Flooded {
 public:
  explicit Flooded(const StoreKind& kind) : database_(kind.make({})), store_(database_->open()) {}

  void add(Kind kind, const std::string& name, std::size_t count) {
    std::vector<NewEvent> events;
    for (std::size_t i = 0; i < count; ++i) {
      events.push_back(make_event(name + std::to_string(++serial_[name])));
      events.back().max_retry_count = 1'000'000;
      if (kind == Kind::scheduled) events.back().next_retry_time = database_->clock().now();
    }
    RC_ASSERT(store_->append(events).size() == count);
    if (kind == Kind::retry) settle(store_->claim(claim_request(count)).events, true);
  }

  void add_dead(std::size_t count) {
    add(Kind::fresh, "D", count);
    for (const Event& event : store_->claim(claim_request(count)).events) {
      const Settlement dead{token_of(event), Command::reject, {}, "no", false};
      RC_ASSERT(store_->settle({&dead, 1}).front() == SettleStatus::applied);
    }
  }

  /// A fresh connection starts the turns of small claims anew.
  void reopen() { store_ = database_->open(); }

  std::vector<Event> claim(std::size_t limit, unsigned retry_percent) {
    database_->clock().advance(1s);
    ClaimRequest request = claim_request(limit);
    request.retry_percent = retry_percent;
    return store_->claim(request).events;
  }

  /// Failed events are due again at once.
  void settle(const std::vector<Event>& events, bool fail) {
    std::vector<Settlement> settlements;
    for (const Event& event : events)
      settlements.push_back(
          {token_of(event), fail ? Command::fail : Command::succeed, database_->clock().now(), "", false});
    for (const SettleStatus status : store_->settle(settlements)) RC_ASSERT(status == SettleStatus::applied);
  }

 private:
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<IEventRepository> store_;
  std::map<std::string, int> serial_;
};

bool is_victim(const Event& event) { return event.event_no.front() == 'V'; }

/// In how many claims so many events of a kind get their turn, whatever the others do.
std::size_t claims_needed(Kind kind, std::size_t count, std::size_t limit, unsigned retry_percent) {
  const auto rounds = [&](std::size_t share) { return (count + share - 1) / share; };
  if (limit < 3) return 3 * rounds(limit);
  const std::size_t share = claim_shares(limit, retry_percent, 0).retries;
  return rounds(kind == Kind::fresh ? limit - 2 * share : share);
}

void check_not_starved(const StoreKind& store, Kind victim) {
  const auto limit = *rc::gen::inRange<std::size_t>(1, 13);
  const auto retry_percent = *rc::gen::inRange(0U, 101U);
  const auto count = *rc::gen::inRange<std::size_t>(1, 16);
  Flooded flooded(store);
  if (victim != Kind::retry) flooded.add(Kind::retry, "R", 2 * limit);
  flooded.add(victim, "V", count);

  std::size_t waiting = count;
  std::size_t claims = 0;
  while (waiting > 0) {
    for (const Kind kind : {Kind::scheduled, Kind::fresh})
      if (kind != victim) flooded.add(kind, kind == Kind::fresh ? "N" : "S", limit);
    const auto events = flooded.claim(limit, retry_percent);
    RC_ASSERT(events.size() == limit);
    RC_ASSERT(++claims <= claims_needed(victim, count, limit, retry_percent));
    waiting -= static_cast<std::size_t>(std::count_if(events.begin(), events.end(), is_victim));
    std::vector<Event> failing;
    std::vector<Event> others;
    for (const Event& event : events) (event.event_no.front() == 'R' ? failing : others).push_back(event);
    flooded.settle(failing, true);
    flooded.settle(others, false);
  }
}

TEST_CASE("no kind of event is starved by the others", "[fairness]") {
  const auto& store = store_kinds()[GENERATE(range(std::size_t{0}, store_kinds().size()))];
  check_property(
      store.name + ": new events move while failing ones flood", [&] { check_not_starved(store, Kind::fresh); }, 1,
      store.share_percent);
  check_property(
      store.name + ": retries move while new events flood", [&] { check_not_starved(store, Kind::retry); }, 1,
      store.share_percent);
  check_property(
      store.name + ": scheduled events move while all flood", [&] { check_not_starved(store, Kind::scheduled); }, 1,
      store.share_percent);
}

TEST_CASE("dead events cost the others nothing", "[fairness]") {
  const auto& store = store_kinds()[GENERATE(range(std::size_t{0}, store_kinds().size()))];
  check_property(
      store.name + ": claims are the same beside dead events",
      [&] {
        const auto dead = *rc::gen::inRange<std::size_t>(1, 60);
        const auto limit = *rc::gen::inRange<std::size_t>(1, 13);
        const auto counts = *rc::gen::container<std::array<std::size_t, 3>>(rc::gen::inRange<std::size_t>(0, 15));
        const auto claimed = [&](bool beside_dead) {
          Flooded flooded(store);
          if (beside_dead) flooded.add_dead(dead);
          for (std::size_t i = 0; i < kKinds.size(); ++i)
            if (counts[i] > 0) flooded.add(kKinds[i], std::string(1, "RSN"[i]), counts[i]);
          flooded.reopen();
          std::vector<Numbers> claims;
          do claims.push_back(numbers_of(flooded.claim(limit, 25)));
          while (!claims.back().empty());
          return claims;
        };
        RC_ASSERT(claimed(true) == claimed(false));
      },
      1, store.share_percent);
}

}  // namespace
}  // namespace waybill::test
