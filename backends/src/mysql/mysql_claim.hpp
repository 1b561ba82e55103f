#pragma once
// Finding claimable events under SKIP LOCKED, so that several relays all get work at once and none of them breaks an
// aggregate's order.

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/claim_terms.hpp"
#include "common/new_event_cursor.hpp"
#include "mysql/mysql_connection.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::mysql {

/// One relay's view of the claimable rows. Thread-confined; claim() runs within a transaction.
///
/// Without ordering and with every route open, three SELECT … FOR UPDATE SKIP LOCKED take what they meet, each in the
/// order of the claim index. Large claims of new events start behind the last one taken, because the front of the index
/// is full of entries that are settled but not purged yet; every so often, and whenever that brings too little, they
/// start at the front again: a late commit carries a smaller id.
///
/// Otherwise candidates are read without locks, those that may be taken are chosen, and only these are locked by their
/// primary key. Order: what stands before an event is read before the lock is taken, and an event is kept only when
/// everything before it was locked too. "The first row I could lock is the head" would be wrong: SKIP LOCKED hides a
/// head that another relay holds. What blocked an aggregate is remembered and looked at first the next time, one row
/// instead of all that stand in front.
class ClaimScanner final : private backends::NewEventCursor::Rows {
 public:
  /// `seed_index`: idx_status_retry_time has retry_count as third column (seed 000).
  ClaimScanner(Connection& connection, bool seed_index)
      : connection_(connection), statements_(connection.statements()), seed_index_(seed_index) {}

  [[nodiscard]] ClaimResult claim(const ClaimRequest& request);
  [[nodiscard]] bool wants_hints() const noexcept {
    return cursor_.engaged() && terms_.ordering() == Ordering::aggregate;
  }
  void hint(std::int64_t event_id) { cursor_.hint(event_id); }
  /// Something in front of the cursors may have changed: look again from the start.
  void start_over() noexcept;
  /// Numbers that change when there may be something to claim that the last claim did not see.
  using Signs = std::array<std::int64_t, 5>;
  [[nodiscard]] Signs signs();

 private:
  using Walk = backends::NewEventCursor::Walk;
  enum class Source { retries, scheduled };
  using AggregateKey = std::pair<std::string, std::string>;
  struct Candidate {
    std::int64_t id;
    std::optional<Timestamp> due;
    AggregateKey aggregate;
    std::string publish_channel;
    std::optional<std::string> topic;
  };
  /// What stands unsettled in an aggregate, in order; `at` is the first that this claim has not passed.
  struct Front {
    std::vector<std::pair<std::int64_t, bool>> events;  ///< id, dead
    std::size_t at{0};
  };
  using Fronts = std::map<AggregateKey, Front>;
  /// Where a walk over retries or scheduled events goes on.
  struct Timed {
    Timestamp time{std::chrono::sys_days{std::chrono::year{1000} / 1 / 1}};  ///< DATETIME begins there
    std::int64_t id{0};
    bool more{false};  ///< the running claim stopped before the end
    bool done{false};  ///< the running claim has seen all, and left none that it may take later
  };

  void begin(const ClaimRequest& request);
  [[nodiscard]] std::size_t left() const { return request_->limit - result_.events.size(); }
  /// Short cuts are worth while: many events a claim, and none that has to be passed over.
  [[nodiscard]] bool pressed() const noexcept;
  void take_timed(Source source, std::size_t most);
  void take_new(std::size_t most);
  void take_new_locked(std::size_t most);
  void take_released(std::size_t most);
  Walk walk(std::int64_t after, std::int64_t until, std::size_t most) override;
  std::size_t follow(std::int64_t event_id, std::int64_t until, std::size_t most) override;

  [[nodiscard]] std::vector<Event> read_locked(Statement& scan);
  [[nodiscard]] std::vector<Candidate> read_candidates(Statement& scan);
  /// Takes from the candidates' front; returns how many it looked at. `passed` counts those it left.
  std::size_t take_candidates(const std::vector<Candidate>& candidates, std::size_t most, std::size_t& passed);
  [[nodiscard]] Fronts read_fronts(const std::vector<Candidate>& candidates);
  [[nodiscard]] std::unordered_set<std::int64_t> standing_blockers(const std::vector<Candidate>& candidates);
  [[nodiscard]] bool advance(Front& front, std::int64_t id) const;
  [[nodiscard]] bool may_go(const Candidate& one, bool open, Fronts& fronts);
  std::size_t lock_and_take(const std::vector<const Candidate*>& chosen);
  void take(std::vector<Event> events, Timestamp now);
  [[nodiscard]] std::string_view fresh() const { return seed_index_ ? "AND retry_count = 0" : ""; }

  Connection& connection_;
  Statements& statements_;
  bool seed_index_;
  // Of the running claim:
  const ClaimRequest* request_{nullptr};
  ClaimResult result_;
  std::unordered_set<std::int64_t> taken_;
  bool constrained_{false};
  // Kept between claims:
  std::uint64_t turn_{0};
  backends::ClaimTerms terms_;
  Timed retries_;
  Timed scheduled_;
  backends::NewEventCursor cursor_;
  std::map<AggregateKey, std::int64_t> blockers_;  ///< what an aggregate was last seen waiting for
  std::int64_t newest_taken_{0};
  std::chrono::steady_clock::time_point front_seen_{};
  std::chrono::steady_clock::time_point timed_seen_{};
  bool timed_empty_{false};
  Timestamp claimed_at_{};
};

}  // namespace waybill::mysql
