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

/// The items in turn, then the last again: what fills the places of a padded list.
template <class Items>
[[nodiscard]] const auto& nth(const Items& items, std::size_t at) {
  return items[std::min(at, items.size() - 1)];
}

/// Consecutive tokens of one owner and one version, at most kMostPlaces of them.
[[nodiscard]] std::vector<std::span<const Token>> by_holder(std::span<const Token> tokens);
/// The places of {list}, then version and owner, which all of them share.
void add_tokens(Statement& statement, std::span<const Token> tokens, std::size_t places);

}  // namespace waybill::mysql
