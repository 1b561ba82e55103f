#include "waybill/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "secret.hpp"
#include "utf8.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

/// A mistake in our own sources, not in what the user wrote.
[[noreturn]] void broken_table(std::string_view what, std::string_view name) {
  std::fprintf(stderr, "waybill: %.*s '%.*s'\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(name.size()), name.data());
  std::abort();
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "yes" || text == "true" || text == "on" || text == "1") return true;
  if (text == "no" || text == "false" || text == "off" || text == "0") return false;
  return std::nullopt;
}

template <class Value>
bool within(const std::string& range, const std::optional<Value>& value,
            std::optional<Value> (*parse)(std::string_view)) {
  if (!value.has_value()) return false;
  const std::size_t dots = range.find("..");
  if (dots == std::string::npos) return true;
  const std::optional<Value> low = parse(std::string_view{range}.substr(0, dots));
  const std::optional<Value> high = parse(std::string_view{range}.substr(dots + 2));
  return (!low || *value >= *low) && (!high || *value <= *high);
}

bool is_choice(std::string_view choices, std::string_view value) {
  while (true) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

bool fits(const OptionSpec& spec, const std::string& value) {
  const std::string range{spec.choices};
  switch (spec.type) {
    case OptionType::text:
      return true;
    case OptionType::integer:
      return within(range, parse_integer(value), parse_integer);
    case OptionType::bytes:
      return within(range, parse_bytes(value), parse_bytes);
    case OptionType::duration:
      return within(range, parse_duration(value), parse_duration);
    case OptionType::boolean:
      return parse_boolean(value).has_value();
    case OptionType::choice:
      return is_choice(spec.choices, value);
  }
  return false;
}

std::string range_text(std::string_view range) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string low{range.substr(0, dots)};
  const std::string high{range.substr(dots + 2)};
  if (high.empty()) return low.empty() ? "" : " from " + low;
  return low.empty() ? " up to " + high : " from " + low + " to " + high;
}

std::string wanted(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::text:
      return "any text";
    case OptionType::integer:
      return "a whole number" + range_text(spec.choices);
    case OptionType::bytes:
      return "a size such as 4096, 64KiB or 1MiB" + range_text(spec.choices);
    case OptionType::duration:
      return "a time such as 250ms, 2s or 5m" + range_text(spec.choices);
    case OptionType::boolean:
      return "yes or no";
    case OptionType::choice: {
      std::string choices{spec.choices};
      std::replace(choices.begin(), choices.end(), '|', ' ');
      return "one of: " + choices;
    }
  }
  return {};
}

std::string unknown_option(const Url& url, const std::string& key, std::span<const OptionSpec> specs) {
  const std::string shown_url = url.redacted();
  // What the URL's redacted form leaves out may be a piece of a password: `db://u:1?KEY@host`.
  const bool show_key = shown_url.find(key) != std::string::npos;
  std::string message =
      "unknown option" + (show_key ? " '" + utf8::for_message(key) + "'" : "") + " in '" + shown_url + "'";
  std::vector<std::string> names;
  for (const OptionSpec& spec : specs) names.emplace_back(spec.name);
  if (names.empty()) return message + "; " + url.scheme + ": takes none";
  if (const std::string near = nearest_name(key, names); !near.empty())
    return message + "; did you mean '" + near + "'?";
  message += "; known are:";
  for (const std::string& name : names) message += " " + name;
  return message;
}

std::string bad_value(const Url& url, const OptionSpec& spec, const std::string& value) {
  const std::string shown = is_secret_key(spec.name) ? "" : " '" + utf8::for_message(value) + "'";
  return "option " + std::string{spec.name} + " in '" + url.redacted() + "' can't be" +
         (shown.empty() ? " that" : shown) + "; write " + wanted(spec);
}

/// Letters to insert, remove, replace or swap with the neighbour to make `b` of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

Options::Options(const Url& url, std::span<const OptionSpec> specs) : specs_(specs), given_(specs.size(), false) {
  for (const OptionSpec& spec : specs_) values_.emplace_back(spec.default_value);
  for (const auto& [key, value] : url.query) {
    const auto spec = std::find_if(specs_.begin(), specs_.end(),
                                   [&, k = std::string_view{key}](const OptionSpec& one) { return one.name == k; });
    if (spec == specs_.end()) throw ConfigError(unknown_option(url, key, specs_));
    if (!fits(*spec, value)) throw ConfigError(bad_value(url, *spec, value));
    const auto index = static_cast<std::size_t>(spec - specs_.begin());
    values_[index] = value;
    given_[index] = true;
  }
}

std::size_t Options::index_of(std::string_view name) const {
  for (std::size_t index = 0; index < specs_.size(); ++index)
    if (specs_[index].name == name) return index;
  broken_table("no such option in the table:", name);
}

bool Options::given(std::string_view name) const { return given_[index_of(name)]; }

const std::string& Options::text(std::string_view name) const { return values_[index_of(name)]; }

std::int64_t Options::integer(std::string_view name) const {
  const std::optional<std::int64_t> value = parse_integer(text(name));
  if (!value.has_value()) broken_table("no whole number as default of", name);
  return *value;
}

std::uint64_t Options::bytes(std::string_view name) const {
  const std::optional<std::uint64_t> value = parse_bytes(text(name));
  if (!value.has_value()) broken_table("no size as default of", name);
  return *value;
}

Duration Options::duration(std::string_view name) const {
  const std::optional<Duration> value = parse_duration(text(name));
  if (!value.has_value()) broken_table("no duration as default of", name);
  return *value;
}

bool Options::boolean(std::string_view name) const {
  const std::optional<bool> value = parse_boolean(text(name));
  if (!value.has_value()) broken_table("no yes or no as default of", name);
  return *value;
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  // A third of the letters may be wrong; a long foreign text is near nothing.
  std::size_t best = std::max<std::size_t>(1, std::min<std::size_t>(name.size(), 64) / 3) + 1;
  std::string nearest;
  if (name.size() > 64) return nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace waybill
