#pragma once
// The stores of this build.

#include "waybill/event_repository.hpp"
#include "waybill/registry.hpp"

namespace waybill {

using BackendRegistry = FactoryRegistry<IEventRepository>;

/// Adds `memory:` and, as built, `sqlite:`.
void register_builtin_backends(BackendRegistry& registry);

}  // namespace waybill
