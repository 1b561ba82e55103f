#pragma once
// Inserting events within an open write transaction, for the store and for the caller's own transaction alike.

#include <span>
#include <vector>

#include "sqlite/sqlite_buffer.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::sqlite {

struct Appended {
  std::vector<AppendResult> results;
  std::uint64_t dropped{0};
};

/// How far the WAL of a bounded store may grow when these events are appended and as many old ones removed for them.
[[nodiscard]] std::uint64_t wal_bytes_needed(std::span<const NewEvent> events);

/// The events were checked against the limits before. Throws StorageError; the transaction is then to be rolled back.
[[nodiscard]] Appended append_events(Statements& statements, std::span<const NewEvent> events, const Bounds& bounds,
                                     Timestamp now);

}  // namespace waybill::sqlite
