#include "daily.hpp"

#include <nlohmann/json.hpp>

#include "text.hpp"

namespace waybill::cli {
namespace {

void print_json(const std::vector<DailyCount>& lines) {
  for (const DailyCount& line : lines)
    print_line(nlohmann::ordered_json{{"stat_date", format_day(line.day)},
                                      {"event_type", line.event_type},
                                      {"publish_status", static_cast<int>(line.status)},
                                      {"event_count", line.count}}
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<DailyCount>& lines) {
  std::vector<Column> columns{{"DAY", 0}, {"TYPE"}};
  for (const Status status : kAllStatuses) columns.push_back({std::string{to_string(status)}, 0, true});
  Table table{std::move(columns)};
  for (std::size_t at = 0; at < lines.size();) {
    const DailyCount& first = lines[at];
    std::array<std::uint64_t, kAllStatuses.size()> counts{};
    for (; at < lines.size() && lines[at].day == first.day && lines[at].event_type == first.event_type; ++at)
      counts[static_cast<std::size_t>(lines[at].status)] = lines[at].count;
    std::vector<std::string> cells{format_day(first.day), first.event_type};
    for (const std::uint64_t count : counts) cells.push_back(std::to_string(count));
    table.add(std::move(cells));
  }
  table.print();
}

}  // namespace

void print_days(const std::vector<DailyCount>& lines, const Session& session) {
  if (session.common.json) {
    print_json(lines);
    return;
  }
  print_table(lines);
  if (lines.empty()) session.tell("no such days; `waybill rollup` counts the events by day");
}

}  // namespace waybill::cli
