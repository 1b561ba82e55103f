#pragma once
// Kinds of command-line values: each says what is wrong with a bad one.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "waybill/time.hpp"

namespace waybill::cli {

struct Range {
  std::size_t min{0};
  std::size_t max{1000000000};
};

struct DurationRange {
  Duration min{0};
  Duration max{std::chrono::hours{24} * 36500};  ///< a hundred years: sums with a point in time can't overflow
};

/// `250ms 2s 5m 12h 30d` within the range; shows the target's value as default.
CLI::Option* add_duration(CLI::App& app, const std::string& names, Duration& target, const std::string& help,
                          DurationRange range = {});
/// A whole number within the range.
CLI::Option* add_count(CLI::App& app, const std::string& names, std::size_t& target, const std::string& help,
                       Range range = {});
/// A text that may be given several times, one value each time.
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                      const std::string& help);
/// A point in time: RFC 3339, or a duration that means "so long ago". Read it with resolve_time().
CLI::Option* add_time(CLI::App& app, const std::string& names, std::string& target, const std::string& help);

/// `text` has passed add_time()'s check.
[[nodiscard]] Timestamp resolve_time(const std::string& text, Timestamp now);

}  // namespace waybill::cli
