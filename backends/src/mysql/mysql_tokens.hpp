#pragma once
// Lists of tokens and ids as parameters.

#include <algorithm>
#include <span>
#include <vector>

#include "mysql/mysql_statement.hpp"
#include "waybill/event.hpp"

namespace waybill::mysql {

/// Most places of a list; longer ones go in parts.
inline constexpr std::size_t kMostPlaces = 512;

/// Calls `run(part)` for the items, kMostPlaces at a time.
template <class Items, class Run>
void in_parts(const Items& items, Run run) {
  for (std::span rest(items); !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), kMostPlaces));
    run(part);
    rest = rest.subspan(part.size());
  }
}

inline constexpr auto kItself = [](std::int64_t id) { return id; };

/// By a text with a {list} and the number of rows.
void delete_rows(Statements& statements, std::string_view text, std::span<const std::int64_t> ids);

/// Consecutive tokens of one owner and one version, at most kMostPlaces of them.
[[nodiscard]] std::vector<std::span<const Token>> by_holder(std::span<const Token> tokens);
/// The places of {list}, then version and owner, which all of them share.
void add_tokens(Statement& statement, std::span<const Token> tokens);

}  // namespace waybill::mysql
