#pragma once
// Which SQL the store really runs, as SQLite sees it.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace waybill::test {

/// Notes the text of every statement that connections opened in its lifetime run. One at a time; the connections must
/// be closed before it ends.
class StatementTrace {
 public:
  StatementTrace();
  ~StatementTrace();
  StatementTrace(const StatementTrace&) = delete;
  StatementTrace& operator=(const StatementTrace&) = delete;

  /// With white space made even; each text once.
  [[nodiscard]] std::set<std::string> texts() const;
  void clear();
};

/// White space made even, so that texts can be compared.
[[nodiscard]] std::string even_space(std::string_view sql);
/// True when `text` is `pattern` with every `{name}` replaced by something.
[[nodiscard]] bool fits(std::string_view text, std::string_view pattern);
/// True when `text` holds the pattern's fixed parts, in order.
[[nodiscard]] bool holds(std::string_view text, std::string_view pattern);
/// The statements of a script. No text of ours has a semicolon in a literal.
[[nodiscard]] std::vector<std::string> statements_of(std::string_view script);

}  // namespace waybill::test
