#pragma once
// What an event may look like, checked on every way in. Widths are those of the seed's table (seed 000, 字段设计),
// in characters, as MySQL counts them.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "waybill/event.hpp"

namespace waybill {

struct Limits {
  std::size_t max_payload_bytes{1U << 20};   ///< bytes of `event_payload`, from 1; default 1 MiB
  std::size_t max_headers_bytes{64U << 10};  ///< bytes of `event_headers`; default 64 KiB
};

/// JSON deeper than this is refused: MySQL's JSON type stops at 100 levels, and the stores must agree.
inline constexpr int kMaxJsonDepth = 100;

struct FieldLimit {
  std::string_view column;
  std::size_t max_characters;
  bool required;                                 ///< must be there and not empty
  std::string_view (*get)(const EventContent&);  ///< the value; empty when it is not set
};

/// The text columns in the table's order.
[[nodiscard]] std::span<const FieldLimit> field_limits() noexcept;

struct FieldError {
  std::string field;
  std::string message;  ///< names field, limit and the value's size; never the value
};

/// The first limit the event breaks, if any: texts as in field_limits() and without NUL, max_retry_count from 0, times
/// within the years 1000 to 9999 (MySQL's DATETIME), payload valid JSON, headers a JSON object, both within `limits`.
[[nodiscard]] std::optional<FieldError> find_violation(const NewEvent& event, const Limits& limits);
/// Throws InvalidEvent for the first event that breaks a limit; its text starts with the event number.
void require_valid(std::span<const NewEvent> events, const Limits& limits);

/// Number of Unicode characters, or nullopt when the bytes are not UTF-8.
[[nodiscard]] std::optional<std::size_t> utf8_length(std::string_view text) noexcept;

}  // namespace waybill
