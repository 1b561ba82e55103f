#pragma once
// An adopted table at work in a repository: new rows are brought into the delivery table, and the rows say what became
// of their events.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/adopted_table.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/telemetry.hpp"

namespace waybill::backends {

/// One connection's view of an adopted table. Thread-confined; runs within the repository's transactions.
///
/// Rows behind the newest known key are looked at with every claim; all rows that say they are not finished, every so
/// often: a late commit carries a smaller key, and a person may have set an old row to pending again. Such a look takes
/// time in proportion to what is unfinished, so the next one waits ten times as long as it took. Where order counts,
/// whatever is new is looked for among all: a late commit may be what comes before it.
class AdoptedStore {
 public:
  virtual ~AdoptedStore() = default;
  AdoptedStore(const AdoptedStore&) = delete;
  AdoptedStore& operator=(const AdoptedStore&) = delete;

  [[nodiscard]] const AdoptedTable& table() const noexcept { return table_; }
  /// What is looked at once, when a store is opened, because it walks an index: throws StorageError `schema` for a row
  /// whose status means nothing, which would never be delivered. Tells `log`, if it is there, what findings() warns of.
  void check_at_start(const LogSink& log);

  /// Inserts into the table itself. Throws as AdoptedTable::append_text() and appended().
  [[nodiscard]] std::vector<AppendResult> append(std::span<const NewEvent> events, Timestamp now);
  [[nodiscard]] virtual std::optional<Event> find(std::string_view event_no) = 0;
  /// What `scan` claims of the delivery table, with what is new in the table, and without what was taken back there.
  template <class Scan>
  [[nodiscard]] ClaimResult claim(const ClaimRequest& request, Scan scan) {
    const bool more = bring_in(request.limit, request.ordering == Ordering::aggregate);
    return finished(scan(request), more);
  }
  /// The rows say what became of their events. Not of the fenced: their rows may have been changed by hand since.
  void show_settled(std::span<const Settlement> settlements, std::span<const SettleStatus> statuses);
  virtual void show(std::span<const std::int64_t> ids) = 0;
  /// Registers all there is, a bounded number of them: for what is done by hand.
  void bring_in_all();
  /// What was registered since the last commit is not: the transaction was rolled back.
  void rolled_back() noexcept { complete_ = false; }
  /// Deletes rows that were finished before; how many. Throws `invalid` when nothing tells the time.
  std::size_t purge(Timestamp before, std::size_t limit);

 protected:
  explicit AdoptedStore(AdoptedTable table) : table_(std::move(table)) {}

 private:
  /// The status of some row that the model says nothing of.
  [[nodiscard]] virtual std::optional<std::string> unknown_status() = 0;
  [[nodiscard]] virtual std::int64_t newest_key() = 0;
  /// Unregistered rows from anywhere; how many.
  virtual std::size_t register_all(std::size_t most) = 0;
  /// Unregistered rows behind that key.
  virtual std::size_t register_behind(std::int64_t key, std::size_t most) = 0;
  /// Delivery rows that were delivered longer ago than that.
  [[nodiscard]] virtual std::vector<std::int64_t> done(Duration ago, std::size_t most) = 0;
  /// Delivery rows that were given up, and whose rows were changed by hand since.
  [[nodiscard]] virtual std::vector<std::int64_t> stale(std::size_t most) = 0;
  virtual void forget(std::span<const std::int64_t> ids) = 0;
  /// False: the number is there.
  virtual bool insert(const NewEvent& event, Timestamp now) = 0;
  [[nodiscard]] virtual std::vector<std::string> finished_keys(Timestamp before, std::size_t limit) = 0;
  virtual void remove(std::span<const std::string> keys) = 0;

  bool bring_in(std::size_t most, bool ordered);
  bool look_at_all(std::size_t most);
  void tidy();
  [[nodiscard]] ClaimResult finished(ClaimResult claimed, bool more);

  AdoptedTable table_;
  bool complete_{false};    ///< everything up to newest_ was registered once
  std::int64_t newest_{0};  ///< only where the key is the events' id: others do not rise
  std::size_t chunk_{0};
  std::chrono::steady_clock::time_point rest_until_{};
};

}  // namespace waybill::backends
