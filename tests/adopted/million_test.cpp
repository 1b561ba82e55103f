// A table that has seen much: what was delivered long ago costs a claim nothing.

#include <algorithm>

#include "adopted/tables.hpp"

namespace waybill::test {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kPending = 100;
/// The servers take longer to fill, and what matters is the same.
int delivered_rows(const Shop& shop) { return shop.is_sqlite() ? 1'000'000 : 200'000; }

void place_orders(Shop& shop) {
  std::string rows;
  for (int i = 0; i < kPending; ++i) rows += (i == 0 ? "('" : ", ('") + std::to_string(i) + "', 'ORDER_CREATED', '{}')";
  shop.run("INSERT INTO outbox (business_id, message_type, payload) VALUES " + rows);
}

void fill(Shop& shop) {
  const std::string count = std::to_string(delivered_rows(shop));
  const std::string numbers =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + count + ") ";
  const std::string insert = "INSERT INTO outbox (business_id, message_type, payload, status) ";
  const std::string rows = "SELECT i, 'ORDER_CREATED', '{}', 'SENT' FROM n";
  if (shop.is_sqlite()) {
    shop.run(numbers + insert + rows);
  } else {
    shop.run("SET " + std::string(shop.is_mariadb() ? "max_recursive_iterations" : "cte_max_recursion_depth") + " = " +
             std::to_string(delivered_rows(shop) + 1));
    shop.run(insert + numbers + rows);
  }
  shop.run(shop.is_sqlite() ? "ANALYZE" : "ANALYZE TABLE outbox");
}

/// The time of each claim of 100 new rows; sorted.
std::vector<Milliseconds> claim_times(Shop& shop, IEventRepository& store, const ClaimRequest& request) {
  std::vector<Milliseconds> times;
  for (int round = 0; round < 15; ++round) {
    place_orders(shop);
    const auto begun = std::chrono::steady_clock::now();
    const std::vector<Event> events = store.claim(request).events;
    times.emplace_back(std::chrono::steady_clock::now() - begun);
    CHECK(events.size() == kPending);
    std::vector<Settlement> settlements;
    for (const Event& event : events) settlements.push_back(settlement_of(event, Command::succeed));
    (void)store.settle(settlements);
  }
  std::sort(times.begin(), times.end());
  return times;
}

Milliseconds median_of(const std::vector<Milliseconds>& sorted) { return sorted[sorted.size() / 2]; }

// A busy machine is slow with any table: what counts is what the delivered rows add.
TEST_CASE_METHOD(InShops, "adopted: a claim beside a million delivered rows takes milliseconds") {
  create_local_message_table(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  const std::vector<ClaimRequest> requests{claim_request(kPending), ordered_request()};
  std::vector<Milliseconds> alone;
  for (const ClaimRequest& request : requests) alone.push_back(median_of(claim_times(*shop, *store, request)));
  fill(*shop);
  for (std::size_t at = 0; at < requests.size(); ++at) {
    INFO((requests[at].ordering == Ordering::aggregate ? "ordered" : "unordered"));
    CHECK(store->claim(requests[at]).events.empty());  // the first one may look further
    const Milliseconds median = median_of(claim_times(*shop, *store, requests[at]));
    INFO("median " << median.count() << " ms, without the delivered rows " << alone[at].count() << " ms");
    CHECK(median < 2 * alone[at] + 50ms);
  }
}

}  // namespace
}  // namespace waybill::test
