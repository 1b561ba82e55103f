#include "backends/statement_trace.hpp"

#include <sqlite3.h>

#include <mutex>

namespace waybill::test {
namespace {

std::mutex mutex;
std::set<std::string> seen;

int on_statement(unsigned, void*, void* statement, void*) {
  if (const char* sql = sqlite3_sql(static_cast<sqlite3_stmt*>(statement))) {
    const std::lock_guard lock(mutex);
    seen.insert(even_space(sql));
  }
  return 0;
}

int on_open(sqlite3* db, const char**, const struct sqlite3_api_routines*) {
  return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, &on_statement, nullptr);
}

// SQLite declares its hook without arguments and calls it with three.
using EntryPoint = void (*)();
EntryPoint entry_point() { return reinterpret_cast<EntryPoint>(&on_open); }

/// The text between the `{name}`s.
std::vector<std::string> fixed_parts(std::string_view pattern) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', at)) {
    parts.emplace_back(pattern.substr(at, open - at));
    at = pattern.find('}', open) + 1;
  }
  parts.emplace_back(pattern.substr(at));
  return parts;
}

/// Where the parts end in the text when they come one after the other from `at` on; npos: they don't.
std::size_t end_of_parts(std::string_view text, const std::vector<std::string>& parts, std::size_t at) {
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string_view::npos) return at;
    at += part.size();
  }
  return at;
}

}  // namespace

StatementTrace::StatementTrace() {
  clear();
  sqlite3_auto_extension(entry_point());
}

StatementTrace::~StatementTrace() { sqlite3_cancel_auto_extension(entry_point()); }

std::set<std::string> StatementTrace::texts() const {
  const std::lock_guard lock(mutex);
  return seen;
}

void StatementTrace::clear() {
  const std::lock_guard lock(mutex);
  seen.clear();
}

std::string even_space(std::string_view sql) {
  std::string result;
  bool space = false;
  for (const char c : sql) {
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    if (!blank && space && !result.empty()) result += ' ';
    if (!blank) result += c;
    space = blank;
  }
  while (!result.empty() && (result.back() == ';' || result.back() == ' ')) result.pop_back();
  return result;
}

bool fits(std::string_view text, std::string_view pattern) {
  const std::vector<std::string> parts = fixed_parts(pattern);
  const std::string& first = parts.front();
  const std::string& last = parts.back();
  if (parts.size() == 1) return text == first;
  return text.size() >= first.size() + last.size() && text.substr(0, first.size()) == first &&
         text.substr(text.size() - last.size()) == last && end_of_parts(text, parts, 0) != std::string_view::npos;
}

bool holds(std::string_view text, std::string_view pattern) {
  return end_of_parts(text, fixed_parts(pattern), 0) != std::string_view::npos;
}

std::vector<std::string> statements_of(std::string_view script) {
  std::vector<std::string> statements;
  for (std::size_t at = 0; at < script.size();) {
    const std::size_t end = std::min(script.find(';', at), script.size());
    std::string one = even_space(script.substr(at, end - at));
    if (!one.empty()) statements.push_back(std::move(one));
    at = end + 1;
  }
  return statements;
}

}  // namespace waybill::test
