#pragma once
// `--to [PATTERN=]URL`, and the routes a relay leaves in the store for `stats`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/event_repository.hpp"
#include "waybill/relay.hpp"
#include "waybill/transports/builtin.hpp"

namespace waybill::cli {

struct RouteArgument {
  RoutePattern pattern;
  std::string url;
};

/// Text that starts with a scheme of the registry (or any `scheme://`) is a URL that takes every event; anything else
/// is split at its first '='. Throws ConfigError.
[[nodiscard]] RouteArgument parse_route(std::string_view text, const TransportRegistry& transports);
[[nodiscard]] std::vector<RouteArgument> parse_routes(const std::vector<std::string>& texts,
                                                      const TransportRegistry& transports);

[[nodiscard]] RouteFilter filter_of(const std::vector<RouteArgument>& routes);

/// The note "routes": a JSON list of patterns.
void save_routes(IEventQueries& store, const std::vector<RouteArgument>& routes);
/// nullopt when no relay has run on this store.
[[nodiscard]] std::optional<RouteFilter> saved_routes(IEventQueries& store);

/// Unsettled events that no route takes.
[[nodiscard]] std::uint64_t count_unroutable(IEventQueries& store, const RouteFilter& routes);

}  // namespace waybill::cli
