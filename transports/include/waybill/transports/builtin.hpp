#pragma once
// The transports of this build.

#include <memory>

#include "waybill/registry.hpp"
#include "waybill/transport.hpp"
#include "waybill/transports/handler.hpp"

namespace waybill {

using TransportRegistry = FactoryRegistry<ITransport>;

/// Adds `exec:`, `stdout:` and `handler:`. `handlers` may be empty: then `handler:` says that this program has none.
void register_builtin_transports(TransportRegistry& registry, std::shared_ptr<const HandlerMap> handlers = {});

}  // namespace waybill
