#include "common/requests.hpp"

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

}  // namespace waybill::backends
