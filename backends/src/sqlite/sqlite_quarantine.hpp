#pragma once
// `recover=quarantine`: starting again when the file is damaged.

#include <functional>
#include <string>

#include "waybill/backends/sqlite.hpp"

namespace waybill::sqlite {

struct Recovery {
  bool fresh{false};      ///< a fresh store was started
  std::string set_aside;  ///< the damaged file's new name; empty when there was nothing worth keeping
};

/// Looks at the file; when it is damaged, moves it (and its WAL) to `PATH.corrupt-N` and calls `start_fresh`. All under
/// one lock, so that of several processes one does it and the others find the fresh store. A file without any table,
/// and one that is missing because a power cut came after the move, are started afresh too. Throws StorageError when
/// the file can't be looked at or moved for another reason.
[[nodiscard]] Recovery recover_if_damaged(const SqliteOptions& options, const std::function<void()>& start_fresh);

}  // namespace waybill::sqlite
