// Two relays on one table: each has work at once, and order holds between them.

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "mysql/mysql_fixture.hpp"

namespace waybill::test {
namespace {

ClaimRequest request_of(const std::string& owner, Ordering ordering, std::size_t limit) {
  ClaimRequest request = claim_request(limit);
  request.owner = owner;
  request.ordering = ordering;
  return request;
}

/// A claim that must not have waited for anybody.
Numbers claim_at_once(IEventRepository& store, const ClaimRequest& request) {
  const auto begun = std::chrono::steady_clock::now();
  Numbers numbers = numbers_of(store.claim(request).events);
  CHECK(std::chrono::steady_clock::now() - begun < 1s);
  return numbers;
}

TEST_CASE_METHOD(OnSharedServers, "rows that somebody holds locked keep nobody from the others", "[relays]") {
  const Ordering ordering = GENERATE(Ordering::none, Ordering::aggregate);
  CAPTURE(ordering == Ordering::aggregate);
  const auto left = open();
  const auto right = open();
  (void)left->append(make_events("e", 1000));
  PlainClient holder(database.options());
  holder.run("BEGIN");
  holder.run("SELECT id FROM biz_outbox_event ORDER BY id LIMIT 100 FOR UPDATE");
  Numbers taken;
  for (int round = 0; round < 9; ++round) {
    const bool odd = round % 2 == 1;
    const Numbers part = claim_at_once(odd ? *right : *left, request_of(odd ? "right" : "left", ordering, 100));
    CHECK(part.size() == 100);
    CHECK(part.front() == "e" + std::to_string(101 + 100 * round));
    taken.insert(taken.end(), part.begin(), part.end());
  }
  CHECK(claim_at_once(*left, request_of("left", ordering, 100)).empty());
  CHECK(claim_at_once(*right, request_of("right", ordering, 100)).empty());
  holder.run("ROLLBACK");
  const Numbers rest = claim_at_once(*right, request_of("right", ordering, 100));
  taken.insert(taken.begin(), rest.begin(), rest.end());
  Numbers all;
  for (const NewEvent& event : make_events("e", 1000)) all.push_back(event.event_no);
  CHECK(taken == all);
}

TEST_CASE_METHOD(OnSharedServers, "two relays keep the order of each aggregate, and deliver each event once",
                 "[relays]") {
  // 300 aggregates with 5 events in a row, in claims of 7: nearly each claim ends within an aggregate, and the next one
  // meets its rest.
  constexpr int kRun = 5;
  constexpr int kEvents = 1500;
  std::vector<NewEvent> events = make_events("e", kEvents);
  for (int at = 0; at < kEvents; ++at) events[static_cast<std::size_t>(at)].aggregate_id = std::to_string(at / kRun);
  (void)open()->append(events);

  std::mutex mutex;
  std::vector<Event> delivered;
  std::map<std::string, std::size_t> shares;
  std::ptrdiff_t fenced = 0;
  const auto relay = [&](const std::string& owner, std::chrono::milliseconds work) {
    const auto store = open();
    const ClaimRequest request = request_of(owner, Ordering::aggregate, 7);
    std::vector<Settlement> outcomes;
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;) {
      const ExchangeResult exchange = store->exchange(outcomes, request);
      outcomes.clear();
      std::this_thread::sleep_for(work);
      const std::lock_guard lock(mutex);
      fenced += std::count(exchange.settled.begin(), exchange.settled.end(), SettleStatus::fenced);
      for (const Event& event : exchange.claimed.events) {
        delivered.push_back(event);
        outcomes.push_back(settlement_of(event, Command::succeed));
      }
      shares[owner] += exchange.claimed.events.size();
      if (delivered.size() >= kEvents && outcomes.empty()) return;
    }
  };
  // The slow one is overtaken at once by whoever does not wait for it.
  std::thread right([&] { relay("right", 5ms); });
  relay("left", 1ms);
  right.join();

  CHECK(fenced == 0);
  CHECK(delivered.size() == kEvents);
  CHECK(shares["left"] > 0);
  CHECK(shares["right"] > 0);
  std::map<std::string, std::int64_t> last;
  std::size_t violations = 0;
  for (const Event& event : delivered) {
    std::int64_t& before = last[event.aggregate_id];
    if (event.id <= before) ++violations;  // out of order, or twice
    before = event.id;
  }
  CHECK(violations == 0);
  CHECK(open()->stats({}).of(Status::succeeded) == kEvents);
}

}  // namespace
}  // namespace waybill::test
