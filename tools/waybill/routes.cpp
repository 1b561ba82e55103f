#include "routes.hpp"

#include <nlohmann/json.hpp>

namespace waybill::cli {
namespace {

constexpr std::string_view kRoutesNote = "routes";

bool is_bare_url(std::string_view text, const TransportRegistry& transports) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  if (transports.knows(text.substr(0, colon))) return true;
  return text.substr(colon).starts_with("://") && text.find('=') > colon;
}

}  // namespace

RouteArgument parse_route(std::string_view text, const TransportRegistry& transports) {
  if (is_bare_url(text, transports)) return {RoutePattern{}, std::string{text}};
  const auto equals = text.find('=');
  if (equals == std::string_view::npos)
    throw ConfigError("--to '" + redact_url(text) + "' is no [PATTERN=]URL; this build delivers to: " +
                      transports.schemes() + ", as in --to stdout: or --to 'order.*=stdout:'");
  return {RoutePattern::parse(text.substr(0, equals)), std::string{text.substr(equals + 1)}};
}

std::vector<RouteArgument> parse_routes(const std::vector<std::string>& texts, const TransportRegistry& transports) {
  std::vector<RouteArgument> routes;
  routes.reserve(texts.size());
  for (const std::string& text : texts) routes.push_back(parse_route(text, transports));
  return routes;
}

RouteFilter filter_of(const std::vector<RouteArgument>& routes) {
  RouteFilter filter;
  for (const RouteArgument& route : routes) filter.push_back({route.pattern, true});
  return filter;
}

void save_routes(IEventQueries& store, const std::vector<RouteArgument>& routes) {
  nlohmann::json patterns = nlohmann::json::array();
  for (const RouteArgument& route : routes) patterns.push_back(route.pattern.to_string());
  store.set_note(kRoutesNote, patterns.dump());
}

std::optional<RouteFilter> saved_routes(IEventQueries& store) {
  const auto note = store.note(kRoutesNote);
  if (!note) return std::nullopt;
  const auto patterns = nlohmann::json::parse(*note, nullptr, false);
  if (!patterns.is_array()) return std::nullopt;
  RouteFilter filter;
  for (const auto& pattern : patterns)
    if (pattern.is_string()) filter.push_back({RoutePattern::parse(pattern.get<std::string>()), true});
  return filter;
}

std::uint64_t count_unroutable(IEventQueries& store, const RouteFilter& routes) {
  std::uint64_t count = 0;
  for (const ChannelBacklog& channel : store.backlog_by_channel())
    if (!accepts(routes, channel.publish_channel, channel.topic)) count += channel.unsettled;
  return count;
}

}  // namespace waybill::cli
