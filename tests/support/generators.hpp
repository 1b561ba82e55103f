#pragma once
// Random texts, JSON values and events for properties. All shrink.

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "waybill/event.hpp"

namespace waybill::test {

inline void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6U);
    put(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12U);
    put(0x80 | (code >> 6U & 0x3FU));
    put(0x80 | (code & 0x3FU));
  } else {
    put(0xF0 | code >> 18U);
    put(0x80 | (code >> 12U & 0x3FU));
    put(0x80 | (code >> 6U & 0x3FU));
    put(0x80 | (code & 0x3FU));
  }
}

/// A Unicode character but NUL and surrogates; mostly ASCII, often the ones that need care.
inline rc::Gen<char32_t> any_character() {
  const auto range = [](unsigned low, unsigned end) {
    return rc::gen::map(rc::gen::inRange(low, end), [](unsigned code) { return static_cast<char32_t>(code); });
  };
  const auto special = rc::gen::elementOf(
      std::vector<char32_t>{U'"', U'\\', U'/', U'%', U'@', U':', U'?', U'&', U'=', U'#', U' ', U'*'});
  return rc::gen::weightedOneOf<char32_t>({{8, range('a', 'z' + 1)},
                                           {4, range('0', '9' + 1)},
                                           {4, special},
                                           {1, range(0x01, 0x20)},
                                           {1, range(0x7F, 0x800)},
                                           {1, range(0x800, 0xD800)},
                                           {1, range(0xE000, 0x10000)},
                                           {1, range(0x10000, 0x110000)}});
}

/// Valid UTF-8 without NUL, `min` to `max` characters.
inline rc::Gen<std::string> any_text(std::size_t min, std::size_t max) {
  const auto encode = [](const std::vector<char32_t>& codes) {
    std::string text;
    for (const char32_t code : codes) append_utf8(text, code);
    return text;
  };
  return rc::gen::mapcat(rc::gen::inRange(min, max + 1), [encode](std::size_t length) {
    return rc::gen::map(rc::gen::container<std::vector<char32_t>>(length, any_character()), encode);
  });
}

/// Characters of `alphabet` only.
inline rc::Gen<std::string> text_of(std::string_view alphabet, std::size_t min, std::size_t max) {
  const std::vector<char> letters{alphabet.begin(), alphabet.end()};
  return rc::gen::mapcat(rc::gen::inRange(min, max + 1), [letters](std::size_t length) {
    return rc::gen::container<std::string>(length, rc::gen::elementOf(letters));
  });
}

/// Any bytes at all.
inline rc::Gen<std::string> any_bytes() { return rc::gen::container<std::string>(rc::gen::arbitrary<char>()); }

/// Microseconds that time columns can hold: years 1000 to 9999.
inline rc::Gen<Timestamp> any_time() {
  constexpr Timestamp kFirst{std::chrono::sys_days{std::chrono::year{1000} / 1 / 1}};
  constexpr Timestamp kEnd{std::chrono::sys_days{std::chrono::year{10000} / 1 / 1}};
  return rc::gen::map(
      rc::gen::inRange<std::int64_t>(kFirst.time_since_epoch().count(), kEnd.time_since_epoch().count()),
      [](std::int64_t micros) { return Timestamp{Duration{micros}}; });
}

/// JSON text of any kind, with odd white space, odd numbers and escapes, at most `depth` levels.
std::string any_json(int depth);
/// A JSON object without traceparent and tracestate.
std::string any_headers();

/// Within the limits of limits.hpp; every optional field is there in half of the cases.
NewEvent any_event();

}  // namespace waybill::test
