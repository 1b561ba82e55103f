#pragma once
// JSON objects read member by member with each value's own text, and written member by member.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waybill {

enum class JsonKind { null, boolean, integer, floating, string, object, array };

/// One member of an object, not of the objects inside it.
struct JsonMember {
  std::string key;
  JsonKind kind{JsonKind::null};
  std::string_view raw;  ///< the value as it was written, inside the text that was read
  std::string text;      ///< kind string: the decoded characters
};

/// What is wrong with a text that should have been an object.
struct JsonError {
  std::string key;      ///< of the duplicate member; empty otherwise
  std::string message;  ///< no byte of the text but the key
};

/// The members of the object that `text` is, in order; keys are unique. Rules of is_valid_json().
/// Keeping the text of a value is what makes 1.0, 1e2 and integers of any length come out as they went in.
[[nodiscard]] std::optional<JsonError> read_members(std::string_view text, std::vector<JsonMember>& members);

/// The text with line feeds, carriage returns and tabs as spaces. In valid JSON they stand between values only.
[[nodiscard]] std::string on_one_line(std::string_view json);

/// Writes one object on one line. `bad_utf8` says what becomes of text that is not UTF-8: strict throws
/// nlohmann::json::type_error, replace writes U+FFFD.
class JsonLine {
 public:
  using OnBadUtf8 = nlohmann::json::error_handler_t;

  explicit JsonLine(OnBadUtf8 bad_utf8, std::size_t expected_size) : bad_utf8_(bad_utf8) {
    line_.reserve(expected_size);
    line_ += '{';
  }

  /// Keys are ours: plain ASCII without quotes.
  void raw(std::string_view key, std::string_view json) {
    start(key);
    line_ += json;
  }
  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, std::int64_t value) { raw(key, std::to_string(value)); }
  /// Null when not set.
  void text_or_null(std::string_view key, const std::optional<std::string>& value) {
    value.has_value() ? text(key, *value) : raw(key, "null");
  }
  /// Left out when not set.
  void text_if_set(std::string_view key, const std::optional<std::string>& value) {
    if (value.has_value()) text(key, *value);
  }
  /// Valid JSON, put on one line.
  void json(std::string_view key, std::string_view json);

  [[nodiscard]] std::string finish() && {
    line_ += '}';
    return std::move(line_);
  }

 private:
  void start(std::string_view key) {
    if (line_.size() > 1) line_ += ',';
    line_ += '"';
    line_ += key;
    line_ += "\":";
  }

  OnBadUtf8 bad_utf8_;
  std::string line_;
};

}  // namespace waybill
