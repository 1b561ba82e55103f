// A table that has seen much: what was delivered long ago costs a claim nothing.

#include <algorithm>

#include "adopted/tables.hpp"

namespace waybill::test {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kPending = 100;
/// The servers take longer to fill, and what matters is the same.
int delivered_rows(const Shop& shop) { return shop.is_sqlite() ? 1'000'000 : 500'000; }

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

TEST_CASE_METHOD(InShops, "adopted: a claim beside a million delivered rows takes milliseconds") {
  create_local_message_table(*shop);
  fill(*shop);
  const auto store = shop->adopt(model_of("outbox"));
  for (const ClaimRequest& request : {claim_request(kPending), ordered_request()}) {
    INFO((request.ordering == Ordering::aggregate ? "ordered" : "unordered"));
    CHECK(store->claim(request).events.empty());  // the first one may look further
    const std::vector<Milliseconds> times = claim_times(*shop, *store, request);
    INFO("median " << times[times.size() / 2].count() << " ms, longest " << times.back().count() << " ms");
    CHECK(times[times.size() / 2] < 50ms);
  }
}

}  // namespace
}  // namespace waybill::test
