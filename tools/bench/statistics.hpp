#pragma once
// Medians and percentiles of small samples.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace waybill::bench {

/// The smallest value that at least `share` (0..1) of the values do not exceed; 0 for none.
[[nodiscard]] inline double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[std::min(values.size() - 1, static_cast<std::size_t>(std::max(1.0, rank)) - 1)];
}

/// Of an even number the mean of the two in the middle.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

[[nodiscard]] inline double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

/// Median, smallest and largest of the rounds.
struct Spread {
  double median{0};
  double min{0};
  double max{0};
};

[[nodiscard]] inline Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {median(values), *low, *high};
}

}  // namespace waybill::bench
