#pragma once
// One table per component says which URL options it takes; it drives parsing, help and docs.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/time.hpp"
#include "waybill/url.hpp"

namespace waybill {

enum class OptionType { text, integer, bytes, duration, boolean, choice };

struct OptionSpec {
  std::string_view name;
  OptionType type{OptionType::text};
  std::string_view default_value;
  std::string_view help;       ///< one line: meaning, unit, what zero means
  std::string_view choices{};  ///< choice: `a|b|c`; integer, bytes, duration: `min..max`, either side may be empty
};

/// A URL's query read through a table. The constructor throws ConfigError for an unknown key (naming the nearest one)
/// and for a value that does not fit; the getters then can't fail. A getter's name must be in the table.
class Options {
 public:
  Options(const Url& url, std::span<const OptionSpec> specs);

  [[nodiscard]] bool given(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;  ///< also for choices
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::uint64_t bytes(std::string_view name) const;
  [[nodiscard]] Duration duration(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;  ///< yes|no, true|false, on|off, 1|0

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  std::span<const OptionSpec> specs_;
  std::vector<std::string> values_;
  std::vector<bool> given_;
};

/// The candidate with the smallest edit distance, or empty when none is near.
[[nodiscard]] std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace waybill
