#pragma once
// Kinds of columns, and lists of names, for the two halves of AdoptedTable.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace waybill::backends {

inline constexpr std::array<std::string_view, 6> kTimes{"next_retry_time", "lock_until",  "last_publish_time",
                                                        "published_time",  "create_time", "update_time"};

[[nodiscard]] inline std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return words;
}

[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

[[nodiscard]] inline bool is_time(std::string_view name) {
  return std::find(kTimes.begin(), kTimes.end(), name) != kTimes.end();
}

[[nodiscard]] inline bool is_number(std::string_view name) {
  constexpr std::array<std::string_view, 5> numbers{"event_version", "retry_count", "max_retry_count", "version",
                                                    "deleted"};
  return std::find(numbers.begin(), numbers.end(), name) != numbers.end();
}

[[nodiscard]] inline std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace waybill::backends
