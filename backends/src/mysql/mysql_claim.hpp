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
/// Candidates are read without locks, those that may be taken are chosen, and only these are locked, by their primary
/// key. A locking read would walk each entry that is settled but not purged yet, and to find the end of its range those
/// behind it too: 25 times as long as a plain one on MariaDB, 7 times on MySQL (25,000 such entries: 25, 8 and 1 ms).
///
/// Large claims with nothing to pass over take short cuts: they lock new events behind the last one taken as they read
/// them. Every so often, and whenever that brings too little, they look from the front again, for late commits with
/// smaller ids and for what was given back.
///
/// Order: what stands before an event is read before the lock is taken, and an event is kept only when
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
  /// How many of the candidates a claim got to.
  struct Looked {
    std::size_t seen{0};
    std::size_t passed{0};  ///< may not be taken
    std::size_t taken{0};
  };
  /// Where a walk over retries or scheduled events goes on.
  struct Timed {
    Timestamp time{std::chrono::sys_days{std::chrono::year{1000} / 1 / 1}};  ///< DATETIME begins there
    std::int64_t id{0};
    bool more{false};  ///< the running claim stopped before the end
    bool done{false};  ///< the running claim has seen all, and left none that it may take later
  };

  void begin(const ClaimRequest& request);
  [[nodiscard]] std::size_t left() const { return request_->limit - result_.events.size(); }
  void rest_from_looking();
  void take_timed(Source source, std::size_t most);
  void take_new(std::size_t most);
  std::size_t take_behind(std::size_t most);
  void take_front(std::size_t most);
  void take_released();
  Walk walk(std::int64_t after, std::int64_t until, std::size_t most) override;
  std::size_t follow(std::int64_t event_id, std::int64_t until, std::size_t most) override;

  [[nodiscard]] std::vector<Event> read_locked(Statement& scan);
  [[nodiscard]] std::vector<Candidate> read_candidates(Statement& scan);
  [[nodiscard]] std::vector<Candidate> look_new(std::int64_t after, std::int64_t until, std::size_t most);
  [[nodiscard]] std::vector<Candidate> look_released(std::size_t most);
  /// Takes from the candidates' front, until kQuantum are passed over, those `passed` before included.
  Looked take_candidates(const std::vector<Candidate>& candidates, std::size_t most, std::size_t passed);
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
  bool constrained_{false};  ///< there may be events to pass over
  bool looking_{true};       ///< from the front, and not only behind the last one taken
  std::chrono::steady_clock::time_point begun_{};
  // Kept between claims:
  std::uint64_t turn_{0};
  backends::ClaimTerms terms_;
  Timed retries_;
  Timed scheduled_;
  backends::NewEventCursor cursor_;
  std::map<AggregateKey, std::int64_t> blockers_;  ///< what an aggregate was last seen waiting for
  std::int64_t newest_taken_{0};
  std::chrono::steady_clock::time_point look_again_{};
  bool timed_empty_{false};
  Timestamp claimed_at_{};
};

}  // namespace waybill::mysql
