#pragma once
// Finding claimable events: three small index scans with shares, ordering by aggregate, and cursors that keep a claim
// short when many rows in front may not be taken.

#include <string>
#include <unordered_map>
#include <vector>

#include "common/claim_terms.hpp"
#include "common/new_event_cursor.hpp"
#include "sqlite/sqlite_statement.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::sqlite {

/// One relay's view of the claimable rows. Thread-confined; its methods run within a write transaction.
///
/// Without ordering and with every route open, each scan starts at the front of its index and takes what it meets.
/// Otherwise rows may have to be passed over, and cursors keep the claim short: NewEventCursor for new events, a place
/// in time for retries and scheduled ones.
class ClaimScanner final : private backends::NewEventCursor::Rows {
 public:
  explicit ClaimScanner(Statements& statements) : statements_(statements) {}

  [[nodiscard]] ClaimResult claim(const ClaimRequest& request, Timestamp now);
  /// True while settlements should tell of the aggregates they moved.
  [[nodiscard]] bool wants_hints() const noexcept {
    return cursor_.engaged() && terms_.ordering() == Ordering::aggregate;
  }
  void hint(std::int64_t event_id) { cursor_.hint(event_id); }
  /// Something in front of the cursors may have changed (a requeue, say): look again from the start.
  void start_over() noexcept;

 private:
  using Walk = backends::NewEventCursor::Walk;
  enum class Source { retries, scheduled };
  struct Place {
    std::int64_t time{-1};
    std::int64_t id{0};
  };
  struct Timed {
    Place place;       ///< where the walk goes on
    bool more{false};  ///< the running claim stopped before the end
    bool done{false};  ///< the running claim ended a walk that earlier ones had begun: all has been seen
  };
  struct Aggregate {
    std::int64_t last_taken{0};
    bool closed{false};
  };

  void begin(const ClaimRequest& request, Timestamp now);
  void take_timed(Source source, std::size_t most);
  void take_timed_fast(Statement& scan, std::size_t most);
  void take_new(std::size_t most);
  Walk walk(std::int64_t after, std::int64_t until, std::size_t most) override;
  std::size_t follow(std::int64_t event_id, std::int64_t until, std::size_t most) override;
  [[nodiscard]] bool may_take(const Statement& row);
  [[nodiscard]] bool blocked(const Statement& row, Aggregate& aggregate);
  void take(std::vector<Event> events);
  void take_ids(const std::vector<std::int64_t>& ids);
  [[nodiscard]] std::optional<Timestamp> next_due();

  Statements& statements_;
  // Of the running claim:
  const ClaimRequest* request_{nullptr};
  Timestamp now_{};
  ClaimResult result_;
  std::unordered_map<std::string, Aggregate> aggregates_;
  bool constrained_{false};
  // Kept between claims:
  std::uint64_t turn_{0};
  backends::ClaimTerms terms_;
  Timed retries_;
  Timed scheduled_;
  backends::NewEventCursor cursor_;
};

}  // namespace waybill::sqlite
