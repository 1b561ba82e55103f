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

std::string value_of(std::string_view name, std::span<const Substitution> extra) {
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

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// `from` by `to` wherever it begins a word (and ends it, when `whole`).
std::string with_word(const std::string& text, std::string_view from, std::string_view to, bool whole) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t found = text.find(from); found != std::string::npos; found = text.find(from, found + 1)) {
    const std::size_t end = found + from.size();
    const bool begins = found == 0 || !is_word(text[found - 1]);
    const bool ends = !whole || end == text.size() || !is_word(text[end]);
    if (!begins || !ends) continue;
    result.append(text, at, found - at).append(to);
    at = end;
  }
  return result.append(text, at, std::string::npos);
}

/// Names of indexes are for tables only.
std::string without_hints(std::string text) {
  for (const std::string_view hint : {" INDEXED BY ", " FORCE INDEX "})
    for (std::size_t at = text.find(hint); at != std::string::npos; at = text.find(hint, at)) {
      const std::size_t name = at + hint.size();
      const std::size_t end = text[name] == '(' ? text.find(')', name) + 1 : text.find_first_of(" \n", name);
      text.erase(at, end - at);
    }
  return text;
}

}  // namespace

std::string TableTexts::render(std::string_view text, std::initializer_list<Substitution> extra) const {
  static const TableTexts outbox;
  if (table == outbox.table) return render_sql(text, extra);
  std::vector<Substitution> all(extra);
  all.emplace_back("columns", columns);
  std::string rendered = render_sql(text, all);
  if (is_view()) rendered = without_hints(std::move(rendered));
  rendered = with_word(rendered, "idx_outbox_", "idx_" + table + "_", false);
  return with_word(rendered, outbox.table, table, true);
}

std::string render_sql(std::string_view text, std::initializer_list<Substitution> extra) {
  return render_sql(text, std::span(extra.begin(), extra.size()));
}

std::string render_sql(std::string_view text, std::span<const Substitution> extra) {
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
