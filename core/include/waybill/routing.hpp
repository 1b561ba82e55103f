#pragma once
// Which events go where: patterns over channel and topic, first match wins.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

/// `*` is any run of characters, `?` any one character; everything else stands for itself.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

/// `[CHANNEL:]TOPIC-GLOB`: `order.*`, `MQ:*`. An event without a topic has the topic "".
struct RoutePattern {
  std::string channel{"*"};
  std::string topic{"*"};

  /// Throws ConfigError for an empty part.
  [[nodiscard]] static RoutePattern parse(std::string_view text);
  [[nodiscard]] bool matches(std::string_view publish_channel, std::string_view topic_or_empty) const noexcept;
  [[nodiscard]] std::string to_string() const;
  bool operator==(const RoutePattern&) const = default;
};

/// What a claim may take. Data, so that a store can turn it into its own query.
struct RouteRule {
  RoutePattern pattern;
  bool take{true};  ///< false: matched, but left alone for now (destination down)
  bool operator==(const RouteRule&) const = default;
};

/// First matching rule decides; no rule matches: not taken. An empty list takes everything.
using RouteFilter = std::vector<RouteRule>;

[[nodiscard]] bool accepts(const RouteFilter& filter, std::string_view publish_channel,
                           const std::optional<std::string>& topic) noexcept;
/// True when the filter takes every event.
[[nodiscard]] bool accepts_all(const RouteFilter& filter) noexcept;

}  // namespace waybill
