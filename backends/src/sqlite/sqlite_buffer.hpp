#pragma once
// The bounded buffer: what happens when a device's store is full.

#include "sqlite/sqlite_statement.hpp"
#include "waybill/backends/sqlite.hpp"

namespace waybill::sqlite {

struct Bounds {
  std::uint64_t max_events{0};
  std::uint64_t max_bytes{0};
  OnFull on_full{OnFull::reject};
};

/// Pages that one insert may take beside its own bytes (index splits).
inline constexpr std::uint64_t kPageSlack = 16 * 4096;

/// The part of max_bytes that the WAL may take; the file has the rest.
[[nodiscard]] constexpr std::uint64_t wal_share(std::uint64_t max_bytes) noexcept { return max_bytes / 4; }

/// Within a write transaction, before `incoming` bytes are inserted: finished events go first (they are counted
/// as purged), then, with drop_oldest, the oldest unfinished ones. Returns how many of those were dropped. Throws
/// `full`.
std::uint64_t make_byte_room(Statements& statements, const Bounds& bounds, std::uint64_t incoming, Timestamp now);
/// Within a write transaction, after an insert: drops what is above max_events. Returns how many. Throws `full`.
std::uint64_t enforce_max_events(Statements& statements, const Bounds& bounds);

void add_to_counter(Statements& statements, std::string_view name, std::uint64_t by);

}  // namespace waybill::sqlite
