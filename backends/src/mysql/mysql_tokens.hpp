#pragma once
// Lists of tokens and ids as parameters.

#include <span>
#include <vector>

#include "mysql/mysql_statement.hpp"
#include "waybill/event.hpp"

namespace waybill::mysql {

/// Most places of a list; longer ones go in parts.
inline constexpr std::size_t kMostPlaces = 512;

/// Consecutive tokens of one owner and one version, at most kMostPlaces of them.
[[nodiscard]] std::vector<std::span<const Token>> by_holder(std::span<const Token> tokens);
/// The places of {list}, then version and owner, which all of them share.
void add_tokens(Statement& statement, std::span<const Token> tokens);

}  // namespace waybill::mysql
