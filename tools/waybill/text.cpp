#include "text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "waybill/limits.hpp"

namespace waybill::cli {
namespace {

/// Bytes of the character that starts with this byte; text that reaches this is valid UTF-8.
std::size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

std::size_t width_of(std::string_view text) { return utf8_length(text).value_or(text.size()); }

/// C0, DEL, and C1 (U+0080 to U+009F), which some terminals obey as well.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 2 && first == 0xC2) return static_cast<unsigned char>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F;
}

std::string ascii_only(std::string_view text) {
  std::string safe{text};
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return safe;
}

}  // namespace

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void finish_output() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (failed)
    throw std::runtime_error("could not write to standard output" +
                             (errno == 0 ? std::string{} : ": " + std::generic_category().message(errno)));
}

std::string safe_text(std::string_view text) {
  if (!utf8_length(text)) return ascii_only(text);
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, character_bytes(text[at]));
    safe += is_control(character) ? std::string_view{"?"} : character;
    at += character.size();
  }
  return safe;
}

std::string cut_text(std::string_view text, std::size_t width) {
  if (width == 0 || width_of(text) <= width) return std::string{text};
  std::size_t end = 0;
  for (std::size_t count = 0; count + 1 < width; ++count) end += character_bytes(text[end]);
  return std::string{text.substr(0, end)} + "…";
}

std::string format_age(Duration age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  const std::array<std::pair<const char*, std::int64_t>, 4> units{
      {{"d", seconds / 86400}, {"h", seconds / 3600 % 24}, {"m", seconds / 60 % 60}, {"s", seconds % 60}}};
  std::string text;
  int shown = 0;
  for (const auto& [unit, value] : units) {
    if (shown == 0 && value == 0) continue;
    if (value != 0) text += std::to_string(value) + unit;
    if (++shown == 2) break;
  }
  return text.empty() ? "0s" : text;
}

Duration age_of(Timestamp time, Timestamp now) { return std::max(Duration{0}, now - time); }

std::string format_short(Timestamp time) {
  std::string text = format_time(time).substr(0, 19);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text;
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string{noun} + (count == 1 ? "" : "s");
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_) widths_.push_back(width_of(column.title));
}

void Table::add(std::vector<std::string> cells) {
  for (std::size_t index = 0; index < cells.size(); ++index) {
    cells[index] = cut_text(safe_text(cells[index]), columns_[index].max_width);
    widths_[index] = std::max(widths_[index], width_of(cells[index]));
  }
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t index = 0; index < cells.size(); ++index) {
    const std::string padding(widths_[index] - width_of(cells[index]), ' ');
    if (index > 0) text += "  ";
    text += columns_[index].right ? padding + cells[index] : cells[index] + padding;
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

void Table::print() {
  if (!titled_) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    print_line(line(titles));
    titled_ = true;
  }
  for (const auto& row : rows_) print_line(line(row));
  rows_.clear();
}

}  // namespace waybill::cli
