#pragma once
// `recover=quarantine`: starting again when the file is damaged.

#include <optional>
#include <string>

#include "waybill/backends/sqlite.hpp"

namespace waybill::sqlite {

/// Looks at the file; when it is damaged, moves it (and its WAL) to `PATH.corrupt-N`. Returns the new name, or nullopt
/// when the file is sound or missing. Throws StorageError when it can't be looked at or moved for another reason.
[[nodiscard]] std::optional<std::string> quarantine_if_damaged(const SqliteOptions& options);

}  // namespace waybill::sqlite
