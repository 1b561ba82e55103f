#include "common/adopted_store.hpp"

#include <algorithm>

namespace waybill::backends {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kFewest = 1000;
constexpr std::size_t kMost = 10000;
constexpr int kRestFactor = 10;
constexpr std::chrono::milliseconds kShortestRest{200};
constexpr std::chrono::seconds kLongestRest{5};
constexpr std::chrono::seconds kKeepDone{5};  ///< while a lost COMMIT may be looked up, and hints followed
constexpr std::size_t kMostTidied = 5000;

}  // namespace

void AdoptedStore::check_at_start(const LogSink& log) {
  if (const auto status = unknown_status()) table_.refuse_status(*status);
  if (!log) return;
  for (const Finding& finding : table_.findings())
    if (finding.level == Finding::Level::warning)
      log(LogLevel::warning, finding.detail + "; better: " + finding.advice);
}

std::vector<AppendResult> AdoptedStore::append(std::span<const NewEvent> events, Timestamp now) {
  std::vector<AppendResult> results;
  for (const NewEvent& event : events) {
    const bool inserted = insert(event, now);
    results.push_back(table_.judged(inserted, find(event.event_no), event));
  }
  return results;
}

bool AdoptedStore::bring_in(std::size_t most, bool ordered) {
  if (chunk_ == 0) chunk_ = std::max(kFewest, 4 * most);
  if (!complete_ || steady_clock::now() >= rest_until_) return look_at_all(most);
  if (!table_.key_is_id()) return false;
  const std::int64_t newest = newest_key();
  if (newest <= newest_) return false;
  if (ordered) return look_at_all(most);
  const std::size_t found = register_behind(newest_, chunk_);
  if (found == chunk_) {
    complete_ = false;
    return true;
  }
  newest_ = newest;
  return false;
}

bool AdoptedStore::look_at_all(std::size_t most) {
  const auto begun = steady_clock::now();
  tidy();
  // Before the search: what is committed while it runs is behind this.
  const std::int64_t newest = table_.key_is_id() ? newest_key() : 0;
  const std::size_t found = register_all(chunk_);
  complete_ = found < chunk_;
  if (!complete_) {
    // A search walks all that is registered already: the more there is, the more it should bring.
    chunk_ = std::min(kMost, 2 * chunk_);
    return true;
  }
  newest_ = newest;
  chunk_ = std::max(kFewest, 4 * most);
  const auto took = steady_clock::now() - begun;
  rest_until_ =
      steady_clock::now() + std::clamp<steady_clock::duration>(took * kRestFactor, kShortestRest, kLongestRest);
  return false;
}

void AdoptedStore::bring_in_all() {
  tidy();
  (void)register_all(kMost);
}

void AdoptedStore::tidy() {
  forget(done(kKeepDone, kMostTidied));
  forget(stale(kMostTidied));
}

/// A claimed event without a payload has no row that may be delivered: it is forgotten.
ClaimResult AdoptedStore::finished(ClaimResult claimed, bool more) {
  std::vector<std::int64_t> withdrawn;
  std::vector<std::int64_t> held;
  for (const Event& event : claimed.events) (event.event_payload.empty() ? withdrawn : held).push_back(event.id);
  if (!withdrawn.empty()) {
    forget(withdrawn);
    claimed.events.erase(std::remove_if(claimed.events.begin(), claimed.events.end(),
                                        [](const Event& event) { return event.event_payload.empty(); }),
                         claimed.events.end());
  }
  if (table_.shows_claims()) show(held);
  claimed.more = claimed.more || more || !withdrawn.empty();
  return claimed;
}

void AdoptedStore::show_settled(std::span<const Settlement> settlements, std::span<const SettleStatus> statuses) {
  std::vector<std::int64_t> ids;
  for (std::size_t at = 0; at < settlements.size(); ++at)
    if (statuses[at] == SettleStatus::applied) ids.push_back(settlements[at].token.id);
  show(ids);
}

std::size_t AdoptedStore::purge(Timestamp before, std::size_t limit) {
  table_.require_finished_time();
  const std::vector<std::string> keys = finished_keys(before, limit);
  remove(keys);
  return keys.size();
}

}  // namespace waybill::backends
