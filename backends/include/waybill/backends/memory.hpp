#pragma once
// The in-memory store: the reference model of all others, and a fast double for unit tests.

#include <memory>

#include "waybill/event_repository.hpp"
#include "waybill/limits.hpp"
#include "waybill/time.hpp"

namespace waybill {

/// What several repositories share: the "database". Thread-safe.
class MemoryDatabase;

struct MemoryOptions {
  std::shared_ptr<const IClock> clock;  ///< empty: the system clock
  Limits limits{};
  std::size_t max_events{0};  ///< unsettled events kept; 0: no bound
  bool drop_oldest{false};    ///< when full: drop the oldest instead of refusing
};

[[nodiscard]] std::shared_ptr<MemoryDatabase> make_memory_database(MemoryOptions options = {});
/// A connection to it. One per thread.
[[nodiscard]] std::unique_ptr<IEventRepository> make_memory_repository(std::shared_ptr<MemoryDatabase> database);
/// A database of its own.
[[nodiscard]] std::unique_ptr<IEventRepository> make_memory_repository(MemoryOptions options = {});

/// The inbox of a consumer in unit tests: true the first time (consumer, event_no) is seen. Thread-safe.
[[nodiscard]] bool consume_once(MemoryDatabase& database, std::string_view consumer, std::string_view event_no);

}  // namespace waybill
