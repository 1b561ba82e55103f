#include "arguments.hpp"

#include <charconv>
#include <optional>

namespace waybill::cli {
namespace {

std::optional<std::size_t> parse_count(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

CLI::Option* add_duration(CLI::App& app, const std::string& names, Duration& target, const std::string& help,
                          DurationRange range) {
  const auto read = [&target, names, range](const std::string& text) {
    const auto value = parse_duration(text);
    if (!value)
      throw CLI::ValidationError(names, "'" + text + "' is no duration; write it like 250ms, 2s, 5m, 12h or 30d");
    if (*value < range.min || *value > range.max)
      throw CLI::ValidationError(
          names, text + " is not from " + format_duration(range.min) + " to " + format_duration(range.max));
    target = *value;
  };
  return app.add_option_function<std::string>(names, read, help)
      ->type_name("DURATION")
      ->default_str(format_duration(target));
}

CLI::Option* add_count(CLI::App& app, const std::string& names, std::size_t& target, const std::string& help,
                       Range range) {
  const auto read = [&target, names, range](const std::string& text) {
    const auto value = parse_count(text);
    if (!value || *value < range.min || *value > range.max)
      throw CLI::ValidationError(names, "'" + text + "' is no whole number from " + std::to_string(range.min) + " to " +
                                            std::to_string(range.max));
    target = *value;
  };
  return app.add_option_function<std::string>(names, read, help)->type_name("N")->default_str(std::to_string(target));
}

CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                      const std::string& help) {
  return app.add_option(names, target, help)->allow_extra_args(false)->take_all();
}

CLI::Option* add_time(CLI::App& app, const std::string& names, std::string& target, const std::string& help) {
  const auto check = [](const std::string& text) -> std::string {
    if (parse_time(text) || parse_duration(text)) return {};
    return "'" + text + "' is no time; write it like 2026-11-30T17:38:00Z, or like 2h for two hours ago";
  };
  return app.add_option(names, target, help)->type_name("TIME")->check(check);
}

Timestamp resolve_time(const std::string& text, Timestamp now) {
  if (const auto time = parse_time(text)) return *time;
  const Duration ago = parse_duration(text).value_or(Duration{0});
  // A million days reach further back than the calendar of any store.
  return ago > now.time_since_epoch() ? Timestamp{} : now - ago;
}

}  // namespace waybill::cli
