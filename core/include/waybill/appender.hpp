#pragma once
// Group commit: appends of many threads become one transaction.

#include <future>
#include <memory>

#include "waybill/event_repository.hpp"
#include "waybill/limits.hpp"

namespace waybill {

struct AppenderOptions {
  std::size_t max_batch{500};    ///< events in one transaction
  std::size_t max_queue{10000};  ///< events waiting; submit() blocks above it
  Duration linger{0};  ///< how long a transaction waits for company; 0: whatever came while the last one committed
  Limits limits{};
};

/// Thread-safe. Owns a writer thread and the repository; works over any store.
class Appender {
 public:
  explicit Appender(std::unique_ptr<IEventRepository> repository, AppenderOptions options = {});
  /// Writes what is queued, then ends.
  ~Appender();

  /// Blocks until the event is durable and says what became of it. Throws InvalidEvent (this event breaks a limit;
  /// others of the group are not touched) and StorageError (the group's transaction failed; nothing of it was written).
  [[nodiscard]] AppendResult append(NewEvent event);
  /// The same, without waiting for the commit.
  [[nodiscard]] std::future<AppendResult> submit(NewEvent event);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waybill
