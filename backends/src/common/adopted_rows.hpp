#pragma once
// Bringing an adopted table's rows into the delivery table, at a pace that costs a claim little.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace waybill::backends {

/// One relay's view of what is new in an adopted table. Thread-confined; runs within a write transaction.
///
/// Rows behind the newest known key are looked at with every claim; all rows that say they are not finished, every so
/// often: a late commit carries a smaller key, and a person may have set an old row to pending again. Such a look takes
/// time in proportion to what is unfinished, so the next one waits ten times as long as it took. Where order counts,
/// whatever is new is looked for among all: a late commit may be what comes before it.
class AdoptedRows {
 public:
  virtual ~AdoptedRows() = default;

  /// Registers new rows for a claim of `most` events; true when there may be more.
  bool bring_in(std::size_t most, bool ordered);
  /// What was registered since the last commit is not: the transaction was rolled back.
  void rolled_back() noexcept { complete_ = false; }
  /// Registers all there is, a bounded number of them: for what is done by hand.
  void bring_in_all();

 protected:
  /// The key is the events' id: rows behind the newest can be told.
  explicit AdoptedRows(bool keys_rise) : keys_rise_(keys_rise) {}

 private:
  [[nodiscard]] virtual std::int64_t newest_key() = 0;
  /// Unregistered rows from anywhere; how many.
  virtual std::size_t register_all(std::size_t most) = 0;
  /// Unregistered rows behind that key.
  virtual std::size_t register_behind(std::int64_t key, std::size_t most) = 0;
  /// Delivery rows that nobody needs any more: finished a while ago, or given up and changed by hand since.
  virtual void tidy() = 0;

  bool look_at_all(std::size_t most);

  bool keys_rise_;
  bool complete_{false};  ///< everything up to newest_ was registered once
  std::int64_t newest_{0};
  std::size_t chunk_{0};
  std::chrono::steady_clock::time_point rest_until_{};
};

}  // namespace waybill::backends
