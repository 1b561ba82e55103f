#pragma once
// Events to and from rows.

#include "sqlite/sqlite_statement.hpp"
#include "waybill/event.hpp"

namespace waybill::sqlite {

/// The current row of a statement that selects `{columns}`.
[[nodiscard]] Event read_event(const Statement& row);

}  // namespace waybill::sqlite
