#pragma once
// The rows of an in-memory database and the orders they are walked in.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "memory_stats.hpp"
#include "waybill/backends/memory.hpp"
#include "waybill/lifecycle.hpp"

namespace waybill {

using IdsByTime = std::set<std::pair<Timestamp, std::int64_t>>;

/// The main table with its indexes. Rows change through insert, erase, run and extend only, so the indexes always fit.
/// Nothing marks a row deleted here: no command of the port does.
class MemoryTable {
 public:
  using Ids = std::set<std::int64_t>;
  using AggregateKey = std::pair<std::string, std::string>;

  void insert(Event event) {
    const std::int64_t id = event.id;
    index(rows_.emplace(id, std::move(event)).first->second, true);
  }

  void erase(std::int64_t id) {
    index(rows_.at(id), false);
    rows_.erase(id);
  }

  /// One command of the lifecycle. False, and nothing changed, when it is not allowed.
  [[nodiscard]] bool run(std::int64_t id, const CommandInput& input) {
    const auto row = rows_.find(id);
    if (row == rows_.end()) return false;
    Event& event = row->second;
    index(event, false);
    const bool applied = apply(event, input);
    if (applied) event.update_time = input.now;
    index(event, true);
    return applied;
  }

  /// A new end for the lease, if the token still holds it.
  [[nodiscard]] bool extend(const Token& token, Timestamp now, Duration lease) {
    const auto row = rows_.find(token.id);
    if (row == rows_.end() || row->second.publish_status != Status::in_progress || token_of(row->second) != token)
      return false;
    Event& event = row->second;
    index(event, false);
    event.lock_until = now + lease;
    event.update_time = now;
    index(event, true);
    return true;
  }

  [[nodiscard]] const std::map<std::int64_t, Event>& rows() const { return rows_; }
  [[nodiscard]] const Event& at(std::int64_t id) const { return rows_.at(id); }

  [[nodiscard]] const Ids& fresh() const { return fresh_; }
  [[nodiscard]] const IdsByTime& scheduled() const { return scheduled_; }
  [[nodiscard]] const IdsByTime& retries() const { return retries_; }
  [[nodiscard]] const IdsByTime& leases() const { return leases_; }
  [[nodiscard]] const Ids& waiting() const { return waiting_; }
  [[nodiscard]] const Ids& unsettled_of(const AggregateKey& key) const { return unsettled_.at(key); }
  [[nodiscard]] std::size_t unsettled() const { return waiting_.size() + leases_.size(); }

  [[nodiscard]] static AggregateKey aggregate_of(const Event& event) {
    return {event.aggregate_type, event.aggregate_id};
  }

 private:
  template <class Set>
  static void put(Set& set, const typename Set::value_type& key, bool present) {
    if (present)
      set.insert(key);
    else
      set.erase(key);
  }

  /// Adds the row to the indexes its state belongs in, or takes it out.
  void index(const Event& event, bool present) {
    switch (event.publish_status) {
      case Status::pending:
        if (event.next_retry_time)
          put(scheduled_, {*event.next_retry_time, event.id}, present);
        else
          put(fresh_, event.id, present);
        put(waiting_, event.id, present);
        break;
      case Status::failed:
        if (!is_dead(event)) put(retries_, {*event.next_retry_time, event.id}, present);
        put(waiting_, event.id, present);
        break;
      case Status::in_progress:
        put(leases_, {event.lock_until.value(), event.id}, present);
        break;
      case Status::succeeded:
      case Status::cancelled:
        return;
    }
    const AggregateKey key = aggregate_of(event);
    Ids& ids = unsettled_[key];
    put(ids, event.id, present);
    if (ids.empty()) unsettled_.erase(key);
  }

  std::map<std::int64_t, Event> rows_;
  Ids fresh_;                              ///< pending, no time set
  IdsByTime scheduled_;                    ///< pending, by the time set
  IdsByTime retries_;                      ///< failed and not dead, by next retry time
  IdsByTime leases_;                       ///< in progress, by the lease's end
  Ids waiting_;                            ///< pending and failed
  std::map<AggregateKey, Ids> unsettled_;  ///< pending, in progress and failed; no empty sets
};

/// Thread-safe by `mutex`: whoever reads or changes a member but `options` holds it.
class MemoryDatabase {
 public:
  explicit MemoryDatabase(MemoryOptions given) : options(std::move(given)) {
    if (!options.clock) options.clock = std::make_shared<SystemClock>();
  }

  /// The row with this number, archived or not.
  [[nodiscard]] const Event* find(std::string_view event_no) const {
    const auto found = ids.find(event_no);
    if (found == ids.end()) return nullptr;
    const auto row = table.rows().find(found->second);
    return row != table.rows().end() ? &row->second : &archive.at(found->second);
  }

  /// There may be new work: ends every wait.
  void announce() {
    ++changes;
    changed.notify_all();
  }

  MemoryOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t changes{0};  ///< commits that may have made new work

  MemoryTable table;
  std::map<std::int64_t, Event> archive;
  std::map<std::string, std::int64_t, std::less<>> ids;  ///< by event number, of both tables
  std::int64_t last_id{0};
  std::uint64_t purged{0};
  std::uint64_t dropped{0};
  MemoryStats stats;
  std::map<std::string, std::string, std::less<>> notes;
  std::set<std::pair<std::string, std::string>> inbox;  ///< consumer, event number
};

}  // namespace waybill
