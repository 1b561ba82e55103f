#pragma once
// Many rows at once, written by SQL: both sides' tables have the same columns.

#include <cstdint>
#include <filesystem>

#include "context.hpp"

namespace waybill::bench {

enum class RowKind {
  finished,
  pending,
  dead,
  future,     ///< one half scheduled, the other waiting for a retry
  followers,  ///< pending, of the aggregates `blocked-N`
  heads       ///< dead, of the aggregates `blocked-N`, one each
};

struct Rows {
  RowKind kind{RowKind::finished};
  std::uint64_t first{1};  ///< number of the first
  std::uint64_t count{0};
  std::uint64_t blocked{1};  ///< followers, heads: how many aggregates
};

/// Adds the rows in one go without a journal (the file is thrown away when that fails) and makes the file durable.
/// Throws Interrupted after a signal.
void fill(const std::filesystem::path& file, const Rows& rows);

/// The files with 1,000,000 finished rows; with `crowded` also the pending, dead and future ones.
[[nodiscard]] const History& history_of(Context& context, bool crowded);

}  // namespace waybill::bench
