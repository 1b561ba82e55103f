#include "report.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace waybill::bench {
namespace {

constexpr std::size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

/// Four significant digits at most: 12345.6 -> `12346`, 1.2345 -> `1.23`.
std::string number(double value) {
  std::array<char, 40> text{};
  const int digits = std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string with_unit(const std::optional<double>& value, const std::string& unit) {
  return value ? number(*value) + " " + unit : "-";
}

std::string ratio_text(const Measurement& line) {
  if (!line.ratio) return "-";
  return number(line.ratio->median) + " [" + number(line.ratio->min) + "-" + number(line.ratio->max) + "]";
}

std::string goal_text(const Measurement& line) {
  if (!line.goal) return "-";
  if (line.goal->kind == Goal::Kind::ratio_at_least) return ">= " + number(line.goal->limit);
  return "< " + number(line.goal->limit) + " " + line.unit;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string fill(width > text.size() ? width - text.size() : 0, ' ');
  return right ? fill + text : text + fill;
}

Row row_of(const Measurement& line) {
  return {line.title,
          with_unit(line.ours, line.unit),
          with_unit(line.other, line.unit),
          ratio_text(line),
          goal_text(line),
          line.goal ? (line.reached() ? "yes" : "NO") : "-"};
}

std::string join(const Row& row, const std::array<std::size_t, kColumns>& widths) {
  std::string line;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const bool last = column + 1 == kColumns;
    line += padded(row[column], last ? 0 : widths[column], column == 1 || column == 2) + (last ? "" : "  ");
  }
  return line + "\n";
}

}  // namespace

bool Measurement::reached() const {
  if (!goal) return true;
  if (goal->kind == Goal::Kind::ratio_at_least) return ratio && ratio->median >= goal->limit;
  return ours && *ours < goal->limit;
}

std::string to_table(const Report& report) {
  std::string text;
  for (const Condition& condition : report.conditions)
    text += padded(condition.name, 14, false) + condition.value + "\n";
  const Row heading{"measure", "ours", "naive", "ratio [min-max]", "goal", "reached"};
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t column = 0; column < kColumns; ++column) widths[column] = heading[column].size();
  for (const Measurement& line : report.measurements) {
    const Row row = row_of(line);
    for (std::size_t column = 0; column < kColumns; ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  text += "\n" + join(heading, widths);
  for (const Measurement& line : report.measurements) {
    text += join(row_of(line), widths);
    if (!line.note.empty()) text += "    " + line.note + "\n";
  }
  if (!report.complete) text += "\ninterrupted: not everything was measured\n";
  return text;
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json json;
  json["complete"] = report.complete;
  for (const Condition& condition : report.conditions) json["conditions"][condition.name] = condition.value;
  json["measures"] = nlohmann::ordered_json::array();
  for (const Measurement& line : report.measurements) {
    nlohmann::ordered_json entry{{"measure", line.name}, {"title", line.title}, {"unit", line.unit}};
    entry["ours"] = line.ours ? nlohmann::ordered_json(*line.ours) : nlohmann::ordered_json();
    if (line.other) entry["other"] = {{"is", line.other_is}, {"value", *line.other}};
    if (line.ratio)
      entry["ratio"] = {{"median", line.ratio->median}, {"min", line.ratio->min}, {"max", line.ratio->max}};
    if (line.goal) {
      entry["goal"] = goal_text(line);
      entry["reached"] = line.reached();
    }
    for (const auto& [name, value] : line.details) entry["details"][name] = value;
    json["measures"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace waybill::bench
