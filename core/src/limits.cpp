#include "waybill/limits.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "utf8.hpp"
#include "waybill/codec.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

std::string_view view(const std::optional<std::string>& text) { return text ? std::string_view{*text} : ""; }

constexpr std::array<FieldLimit, 10> kFieldLimits{{
    {"event_no", 64, true, [](const EventContent& event) -> std::string_view { return event.event_no; }},
    {"aggregate_type", 64, true, [](const EventContent& event) -> std::string_view { return event.aggregate_type; }},
    {"aggregate_id", 64, true, [](const EventContent& event) -> std::string_view { return event.aggregate_id; }},
    {"event_type", 64, true, [](const EventContent& event) -> std::string_view { return event.event_type; }},
    {"event_source", 64, true, [](const EventContent& event) -> std::string_view { return event.event_source; }},
    {"publish_channel", 32, true, [](const EventContent& event) -> std::string_view { return event.publish_channel; }},
    {"topic", 128, false, [](const EventContent& event) { return view(event.topic); }},
    {"routing_key", 128, false, [](const EventContent& event) { return view(event.routing_key); }},
    {"trace_id", 128, false, [](const EventContent& event) { return view(event.trace_id); }},
    {"remark", 500, false, [](const EventContent& event) { return view(event.remark); }},
}};

// MySQL's DATETIME.
constexpr Timestamp kFirstTime = std::chrono::sys_days{std::chrono::year{1000} / 1 / 1};
constexpr Timestamp kEndOfTime = std::chrono::sys_days{std::chrono::year{10000} / 1 / 1};

std::optional<std::string> text_error(const FieldLimit& limit, std::string_view value) {
  const std::string name{limit.column};
  if (value.empty()) {
    if (limit.required) return name + " is required and must not be empty";
    return std::nullopt;
  }
  const std::optional<std::size_t> length = utf8_length(value);
  if (!length.has_value()) return name + " is not valid UTF-8 (" + std::to_string(value.size()) + " bytes)";
  if (*length > limit.max_characters)
    return name + " is " + std::to_string(*length) + " characters long, the limit is " +
           std::to_string(limit.max_characters);
  // C interfaces of the stores and destinations would cut the text there.
  if (value.find('\0') != std::string_view::npos)
    return name + " holds a NUL character (" + std::to_string(value.size()) + " bytes)";
  return std::nullopt;
}

std::optional<std::string> size_error(std::string_view name, std::string_view value, std::size_t limit) {
  if (value.size() <= limit) return std::nullopt;
  return std::string{name} + " is " + std::to_string(value.size()) + " bytes long, the limit is " +
         std::to_string(limit);
}

std::optional<std::string> time_error(std::string_view name, const std::optional<Timestamp>& time) {
  if (!time.has_value() || (*time >= kFirstTime && *time < kEndOfTime)) return std::nullopt;
  return std::string{name} + " is outside the years 1000 to 9999";
}

std::string json_rule() {
  return " bytes; it must be UTF-8, without byte-order mark, at most " + std::to_string(kMaxJsonDepth) +
         " levels deep, numbers within double's range)";
}

/// Everything that needs no parsing.
std::optional<FieldError> cheap_violation(const NewEvent& event, const Limits& limits) {
  for (const FieldLimit& limit : kFieldLimits)
    if (auto message = text_error(limit, limit.get(event)))
      return FieldError{std::string{limit.column}, std::move(*message)};
  if (event.max_retry_count < 0)
    return FieldError{"max_retry_count",
                      "max_retry_count is " + std::to_string(event.max_retry_count) + ", the smallest value is 0"};
  if (auto message = time_error("next_retry_time", event.next_retry_time))
    return FieldError{"next_retry_time", std::move(*message)};
  if (auto message = time_error("create_time", event.create_time))
    return FieldError{"create_time", std::move(*message)};
  if (event.event_payload.empty())
    return FieldError{"event_payload", "event_payload is required and must not be empty"};
  if (auto message = size_error("event_payload", event.event_payload, limits.max_payload_bytes))
    return FieldError{"event_payload", std::move(*message)};
  if (event.event_headers.has_value())
    if (auto message = size_error("event_headers", *event.event_headers, limits.max_headers_bytes))
      return FieldError{"event_headers", std::move(*message)};
  return std::nullopt;
}

}  // namespace

std::span<const FieldLimit> field_limits() noexcept { return kFieldLimits; }

std::optional<FieldError> find_violation(const NewEvent& event, const Limits& limits) {
  if (auto error = cheap_violation(event, limits)) return error;
  if (!is_valid_json(event.event_payload))
    return FieldError{"event_payload",
                      "event_payload is not valid JSON (" + std::to_string(event.event_payload.size()) + json_rule()};
  if (event.event_headers.has_value() && !is_json_object(*event.event_headers))
    return FieldError{"event_headers", "event_headers is not a valid JSON object (" +
                                           std::to_string(event.event_headers->size()) + json_rule()};
  return std::nullopt;
}

void require_valid(std::span<const NewEvent> events, const Limits& limits) {
  for (const NewEvent& event : events)
    if (const auto error = find_violation(event, limits))
      throw InvalidEvent(error->field, "event '" + utf8::for_message(event.event_no) + "': " + error->message);
}

std::optional<std::size_t> utf8_length(std::string_view text) noexcept {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t eight = 0;
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {  // eight ASCII characters at once
        at += sizeof eight;
        characters += sizeof eight;
        continue;
      }
    }
    const std::size_t length = utf8::character_at(text, at);
    if (length == 0) return std::nullopt;
    at += length;
    ++characters;
  }
  return characters;
}

}  // namespace waybill
