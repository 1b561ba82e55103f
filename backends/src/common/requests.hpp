#pragma once
// What every store does with a request before it touches its data.

#include <optional>
#include <span>

#include "waybill/event_repository.hpp"

namespace waybill::backends {

/// Throws StorageError `invalid` for an owner of no or too many characters, a limit of 0 or no lease.
void require_sensible(const ClaimRequest& request);
/// Throws StorageError `invalid` for a command that does not end a claim.
void require_sensible(std::span<const Settlement> settlements);
/// The filter, narrowed to what the command may change; nullopt: nothing can match.
[[nodiscard]] std::optional<EventFilter> narrowed(EventFilter filter, Command command);

}  // namespace waybill::backends
