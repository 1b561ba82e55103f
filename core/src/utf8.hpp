#pragma once
// UTF-8 (RFC 3629) for core's own sources.

#include <cstddef>
#include <string>
#include <string_view>

namespace waybill::utf8 {

/// Bytes of the valid character that starts at `at` (1..4), or 0 when none does.
[[nodiscard]] constexpr std::size_t character_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const std::size_t left = text.size() - at;
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 ? 4 : 0;
  if (length == 0 || lead > 0xF4 || left < length) return 0;
  // The second byte's range is narrower after E0, ED, F0 and F4: no overlong forms, no surrogates, nothing above
  // 10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(at + 1) < low || byte(at + 1) > high) return 0;
  for (std::size_t next = 2; next < length; ++next)
    if ((byte(at + next) & 0xC0) != 0x80) return 0;
  return length;
}

/// Valid UTF-8 of at most `max_characters`: wrong bytes, and those for which `drop` is true, become U+FFFD.
template <class Drop>
[[nodiscard]] std::string clip(std::string_view text, std::size_t max_characters, Drop drop) {
  std::string kept;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size() && characters < max_characters; ++characters) {
    const std::size_t length = character_at(text, at);
    if (length == 0 || (length == 1 && drop(text[at])))
      kept += "\xEF\xBF\xBD";
    else
      kept += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return kept;
}

/// A foreign text for a message: one line, no control characters, at most `max_characters` and "..." when cut.
[[nodiscard]] inline std::string for_message(std::string_view text, std::size_t max_characters = 64) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::string all = clip(text, max_characters + 1, control);
  std::string kept = clip(all, max_characters, control);
  if (kept.size() < all.size()) kept += "...";
  return kept;
}

}  // namespace waybill::utf8
