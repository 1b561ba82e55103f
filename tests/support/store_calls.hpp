#pragma once
// What tests of every kind of store do with one: short claims and settlements.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::test {

using Numbers = std::vector<std::string>;

[[nodiscard]] inline Numbers numbers_of(const std::vector<Event>& events) {
  Numbers numbers;
  for (const Event& event : events) numbers.push_back(event.event_no);
  return numbers;
}

[[nodiscard]] inline ClaimRequest claim_request(std::size_t limit = 100, std::string owner = "relay-a") {
  ClaimRequest request;
  request.owner = std::move(owner);
  request.limit = limit;
  return request;
}

[[nodiscard]] inline Settlement settlement_of(const Event& claimed, Command command) {
  Settlement settlement;
  settlement.token = token_of(claimed);
  settlement.command = command;
  return settlement;
}

inline SettleStatus settle(IEventRepository& store, const Settlement& settlement) {
  const std::vector<SettleStatus> statuses = store.settle({&settlement, 1});
  REQUIRE(statuses.size() == 1);
  return statuses.front();
}

inline SettleStatus succeed(IEventRepository& store, const Event& claimed) {
  return settle(store, settlement_of(claimed, Command::succeed));
}

}  // namespace waybill::test
