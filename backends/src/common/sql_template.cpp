#include "common/sql_template.hpp"

#include <cstdio>
#include <cstdlib>

#include "waybill/lifecycle.hpp"

namespace waybill::backends {
namespace {

constexpr std::string_view kDead =
    "(publish_status = 3 AND (retry_count >= max_retry_count OR next_retry_time IS NULL))";

std::string number(Status status) { return std::to_string(static_cast<int>(status)); }

std::string guard(const Transition& row) {
  std::string text;
  for (const Status status : kAllStatuses)
    if (row.from.contains(status)) text += (text.empty() ? "" : " OR ") + ("publish_status = " + number(status));
  return "(" + text + ")";
}

std::string value_of(std::string_view name, std::initializer_list<Substitution> extra) {
  for (const auto& [key, value] : extra)
    if (key == name) return std::string(value);
  if (name == "columns") return std::string(kEventColumns);
  if (name == "dead") return std::string(kDead);
  for (const Status status : kAllStatuses)
    if (to_string(status) == name) return number(status);
  for (const Transition& row : kTransitions) {
    if (name == "from:" + std::string(to_string(row.command))) return guard(row);
    if (name == "to:" + std::string(to_string(row.command))) return number(row.to);
  }
  std::fprintf(stderr, "waybill: unknown name {%.*s} in an SQL text\n", static_cast<int>(name.size()), name.data());
  std::abort();
}

}  // namespace

std::string render_sql(std::string_view text, std::initializer_list<Substitution> extra) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', at)) {
    const std::size_t close = text.find('}', open);
    result += text.substr(at, open - at);
    // A replacement may hold names itself ({filter} holds {dead}).
    result += render_sql(value_of(text.substr(open + 1, close - open - 1), extra), extra);
    at = close + 1;
  }
  result += text.substr(at);
  return result;
}

}  // namespace waybill::backends
