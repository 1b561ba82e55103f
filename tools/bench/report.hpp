#pragma once
// What was measured, as a table for people or as one JSON object.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "statistics.hpp"

namespace waybill::bench {

struct Goal {
  enum class Kind { ratio_at_least, ours_below };
  Kind kind{Kind::ratio_at_least};
  double limit{0};
};

/// One line of the table.
struct Measurement {
  std::string name;   ///< of the measure it belongs to
  std::string title;  ///< what was measured
  std::string unit;   ///< of `ours` and `other`
  std::optional<double> ours;
  std::optional<double> other;    ///< the hand-written loop, or what `other_is` says
  std::string other_is{"naive"};  ///< JSON and notes
  std::optional<Spread> ratio;    ///< of the rounds; above 1 is better than the other
  std::optional<Goal> goal;
  std::string note;                                     ///< printed below the line
  std::vector<std::pair<std::string, double>> details;  ///< JSON only; the key carries the unit

  [[nodiscard]] bool reached() const;
};

struct Condition {
  std::string name;
  std::string value;
};

struct Report {
  std::vector<Condition> conditions;
  std::vector<Measurement> measurements;
  bool complete{true};  ///< false: interrupted
};

[[nodiscard]] std::string to_table(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace waybill::bench
