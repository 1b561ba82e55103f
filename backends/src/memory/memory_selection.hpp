#pragma once
// Which events a claim takes.

#include <map>

#include "memory_database.hpp"
#include "waybill/event_repository.hpp"

namespace waybill {

/// Collects the events of one claim, pass by pass; changes nothing. Lives within one call.
class Selection {
 public:
  Selection(const MemoryTable& table, const ClaimRequest& request, Timestamp now)
      : table_(table), request_(request), now_(now) {}

  void take_due(const IdsByTime& candidates, std::size_t quota) {
    for (const auto& [time, id] : candidates) {
      if (time > now_ || quota == 0 || full()) return;
      if (take(id)) --quota;
    }
  }

  void take_new() {
    for (const std::int64_t id : table_.fresh()) {
      if (full()) return;
      take(id);
    }
  }

  [[nodiscard]] bool full() const { return taken_.size() >= request_.limit; }
  [[nodiscard]] const MemoryTable::Ids& taken() const { return taken_; }

 private:
  bool take(std::int64_t id) {
    if (taken_.count(id) != 0) return false;
    const Event& event = table_.at(id);
    if (!accepts(request_.routes, event.publish_channel, event.topic)) return false;
    if (request_.ordering == Ordering::aggregate && head_of(MemoryTable::aggregate_of(event)) != id) return false;
    return taken_.insert(id).second;
  }

  /// The first unsettled event of the aggregate that is neither in this claim nor a dead one to be passed. Within a
  /// claim it only moves on, so its place is kept.
  std::int64_t head_of(const MemoryTable::AggregateKey& key) {
    const MemoryTable::Ids& ids = table_.unsettled_of(key);
    MemoryTable::Ids::const_iterator& head = heads_.try_emplace(key, ids.begin()).first->second;
    while (head != ids.end() && (taken_.count(*head) != 0 || is_passed(*head))) ++head;
    return head == ids.end() ? 0 : *head;
  }

  [[nodiscard]] bool is_passed(std::int64_t id) const {
    return request_.dead_head == DeadHead::skip && is_dead(table_.at(id));
  }

  const MemoryTable& table_;
  const ClaimRequest& request_;
  Timestamp now_;
  MemoryTable::Ids taken_;
  std::map<MemoryTable::AggregateKey, MemoryTable::Ids::const_iterator> heads_;
};

}  // namespace waybill
