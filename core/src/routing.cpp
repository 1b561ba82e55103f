#include "waybill/routing.hpp"

#include "waybill/error.hpp"

namespace waybill {
namespace {

/// The start of the next UTF-8 character.
std::size_t next_character(std::string_view text, std::size_t at) noexcept {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

bool matches_everything(std::string_view pattern) noexcept {
  return !pattern.empty() && pattern.find_first_not_of('*') == std::string_view::npos;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t after_star = std::string_view::npos;  // where to go on when the last `*` takes one character more
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      t = next_character(text, t);
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      star_text = next_character(text, star_text);
      t = star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

RoutePattern RoutePattern::parse(std::string_view text) {
  RoutePattern pattern;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    pattern.topic = text;
  } else {
    pattern.channel = text.substr(0, colon);
    pattern.topic = text.substr(colon + 1);
  }
  if (pattern.channel.empty() || pattern.topic.empty())
    throw ConfigError("pattern '" + std::string{text} +
                      "' has an empty part; write TOPIC or CHANNEL:TOPIC, with * for any (`order.*`, `MQ:*`)");
  return pattern;
}

bool RoutePattern::matches(std::string_view publish_channel, std::string_view topic_or_empty) const noexcept {
  return glob_match(channel, publish_channel) && glob_match(topic, topic_or_empty);
}

std::string RoutePattern::to_string() const {
  if (channel == "*" && topic.find(':') == std::string::npos) return topic;
  return channel + ":" + topic;
}

bool accepts(const RouteFilter& filter, std::string_view publish_channel,
             const std::optional<std::string>& topic) noexcept {
  if (filter.empty()) return true;
  const std::string_view topic_or_empty = topic ? std::string_view{*topic} : std::string_view{};
  for (const RouteRule& rule : filter)
    if (rule.pattern.matches(publish_channel, topic_or_empty)) return rule.take;
  return false;
}

bool accepts_all(const RouteFilter& filter) noexcept {
  if (filter.empty()) return true;
  for (const RouteRule& rule : filter) {
    if (!rule.take) return false;
    if (matches_everything(rule.pattern.channel) && matches_everything(rule.pattern.topic)) return true;
  }
  return false;
}

}  // namespace waybill
