#pragma once
// Finding claimable events: three small index scans with shares, ordering by aggregate, and cursors that keep a claim
// short when many rows in front may not be taken.

#include <string>
#include <unordered_map>
#include <vector>

#include "sqlite/sqlite_statement.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::sqlite {

/// One relay's view of the claimable rows. Thread-confined; its methods run within a write transaction.
///
/// Without ordering and with every route open, each scan starts at the front of its index and takes what it meets.
/// Otherwise rows may have to be passed over: blocked behind their aggregate's head, or on a route that is down. As
/// long as these are few, a claim walks them each time and sees everything. When it has passed kQuantum of them it
/// stops, remembers where (`more` is set, so the caller comes back at once), and from then on
///  - the tail scan goes on behind that place, where new events arrive;
///  - events that this instance's own settlements set free are found through hints (their aggregates);
///  - a sweep walks the rows in front again, kQuantum at a time, for what others set free; it rests in proportion to
///  its
///    length, and when little is left in front, the cursor is given up again.
class ClaimScanner {
 public:
  explicit ClaimScanner(Statements& statements) : statements_(statements) {}

  [[nodiscard]] ClaimResult claim(const ClaimRequest& request, Timestamp now);
  /// True while settlements should tell of the aggregates they moved.
  [[nodiscard]] bool wants_hints() const noexcept { return tail_ != 0 && last_ordering_ == Ordering::aggregate; }
  /// The event's aggregate moved: a follower in front of the cursor may be free.
  void hint(std::int64_t event_id);
  /// Something in front of the cursors may have changed (a requeue, say): look again from the start.
  void start_over() noexcept;

 private:
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
  struct Walk {
    bool at_end{false};
    std::size_t walked{0};
    std::int64_t last_id{0};
  };

  void begin(const ClaimRequest& request, Timestamp now);
  void take_timed(Source source, std::size_t most);
  void take_timed_fast(Statement& scan, std::size_t most);
  void take_new(std::size_t most);
  void take_hinted(std::size_t most);
  void sweep(std::size_t most);
  void take_tail(std::size_t most);
  [[nodiscard]] Walk walk_new(std::int64_t after, std::int64_t until, std::size_t most);
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
  RouteFilter last_routes_;
  Ordering last_ordering_{Ordering::none};
  DeadHead last_dead_head_{DeadHead::block};
  Timed retries_;
  Timed scheduled_;
  std::int64_t tail_{0};  ///< 0: no cursor
  std::int64_t sweep_{0};
  std::size_t sweep_walked_{0};
  Timestamp sweep_rest_until_{};
  std::vector<std::int64_t> hints_;  ///< ids of settled events whose aggregates may move
};

}  // namespace waybill::sqlite
