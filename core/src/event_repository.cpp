#include "waybill/event_repository.hpp"

#include <algorithm>

namespace waybill {

ExchangeResult IDeliveryStore::exchange(std::span<const Settlement> settlements, const ClaimRequest& request) {
  ExchangeResult result;
  result.settled = settle(settlements);
  result.claimed = claim(request);
  return result;
}

ClaimShares claim_shares(std::size_t limit, unsigned retry_percent, std::uint64_t turn) noexcept {
  if (limit < 3) {
    switch (turn % 3) {
      case 0:
        return {limit, 0};
      case 1:
        return {0, limit};
      default:
        return {0, 0};
    }
  }
  const std::size_t share = std::max<std::size_t>(1, limit * std::min(retry_percent, 33U) / 100);
  return {share, share};
}

}  // namespace waybill
