#pragma once
// How results look to people: tables, ages, safe text. All of it goes to standard output through print().

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/time.hpp"

namespace waybill::cli {

/// Writes to standard output. Errors are kept there and found by finish_output().
void print(std::string_view text);
void print_line(std::string_view text);
/// Flushes. Throws std::runtime_error when something printed did not get out (full disk).
void finish_output();

/// Control characters replaced by '?': a stored text can't steer the terminal. Bytes that are not UTF-8, too.
[[nodiscard]] std::string safe_text(std::string_view text);
/// At most `width` characters; cut text ends in "…".
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t width);
/// `3d4h`, `12m5s`, `0s`: the two largest units, for people.
[[nodiscard]] std::string format_age(Duration age);
/// Not below zero: a producer's clock may run ahead of the store's.
[[nodiscard]] Duration age_of(Timestamp time, Timestamp now);
/// `2026-11-30 17:38:00`, in UTC: short, for tables.
[[nodiscard]] std::string format_short(Timestamp time);
/// "1 event", "3 events".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

struct Column {
  std::string title;
  std::size_t max_width{60};  ///< characters; longer text is cut. 0: never
  bool right{false};
};

/// Rows in aligned columns. Print as often as you like: the titles come once, widths never shrink.
class Table {
 public:
  explicit Table(std::vector<Column> columns);
  void add(std::vector<std::string> cells);
  /// Prints the rows added since the last time.
  void print();

 private:
  [[nodiscard]] std::string line(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool titled_{false};
};

}  // namespace waybill::cli
