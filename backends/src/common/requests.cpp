#include "common/requests.hpp"

#include <algorithm>

#include "waybill/limits.hpp"

namespace waybill::backends {

void require_sensible(const ClaimRequest& request) {
  const auto length = utf8_length(request.owner);
  if (!length || *length == 0 || *length > 128)
    throw StorageError(ErrorCode::invalid, "claim: the owner's name must have 1 to 128 characters");
  if (request.limit == 0) throw StorageError(ErrorCode::invalid, "claim: the limit must be at least 1");
  if (request.lease <= Duration::zero()) throw StorageError(ErrorCode::invalid, "claim: the lease must be above 0");
}

void require_sensible(std::span<const Settlement> settlements) {
  for (const Settlement& settlement : settlements)
    if (!transition(settlement.command).fenced)
      throw StorageError(ErrorCode::invalid,
                         "settle: '" + std::string(to_string(settlement.command)) + "' is not a way to end a claim");
}

std::optional<EventFilter> narrowed(EventFilter filter, Command command) {
  std::vector<Status> allowed;
  for (const Status status : kAllStatuses) {
    const bool named = filter.statuses.empty() ||
                       std::find(filter.statuses.begin(), filter.statuses.end(), status) != filter.statuses.end();
    if (named && transition(command).from.contains(status)) allowed.push_back(status);
  }
  if (allowed.empty()) return std::nullopt;
  filter.statuses = std::move(allowed);
  return filter;
}

}  // namespace waybill::backends
