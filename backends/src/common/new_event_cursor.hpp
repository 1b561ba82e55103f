#pragma once
// Keeps a claim short when many new events in front may not be taken: blocked behind their aggregate's head, or on a
// route that is down.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/time.hpp"

namespace waybill::backends {

/// One relay's view of the new events, in id order. Thread-confined.
///
/// As long as few rows have to be passed over, a claim walks them each time and sees everything. When it has passed
/// kQuantum of them it stops, remembers where (take() says "more", so the caller comes back at once), and from then on
///  - the tail goes on behind that place, where new events arrive;
///  - events that this instance's own settlements set free are found through hints (their aggregates);
///  - a sweep walks the rows in front again, kQuantum at a time, for what others set free; it rests in proportion to
///    what it walked, in between while the tail keeps claims full, else at its end; and when little is left in front,
///    the cursor is given up again.
class NewEventCursor {
 public:
  static constexpr std::size_t kQuantum = 1000;  ///< rows a claim passes over per walk: about 3 ms

  struct Walk {
    bool at_end{false};       ///< there is no further row
    std::size_t walked{0};    ///< rows passed over
    std::int64_t last_id{0};  ///< where the walk stopped
    std::size_t taken{0};
  };

  /// The rows, as a store knows them.
  class Rows {
   public:
    virtual ~Rows() = default;
    /// Takes at most `most` of those with after < id <= until, and passes over kQuantum at most.
    virtual Walk walk(std::int64_t after, std::int64_t until, std::size_t most) = 0;
    /// Takes at most `most` from the front of that event's aggregate, not beyond `until`; how many.
    virtual std::size_t follow(std::int64_t event_id, std::int64_t until, std::size_t most) = 0;
  };

  /// Takes at most `most`; true when it stopped before all was seen.
  [[nodiscard]] bool take(Rows& rows, Timestamp now, std::size_t most);
  /// True when rows in front are passed by: then hint() should hear of settled events.
  [[nodiscard]] bool engaged() const noexcept { return tail_ != 0; }
  /// The event's aggregate moved: a follower in front of the cursor may be free.
  void hint(std::int64_t event_id);
  /// Something in front may have changed (a requeue, say): look again from the start.
  void start_over() noexcept;

 private:
  std::size_t take_hinted(Rows& rows, std::size_t most);
  std::size_t sweep(Rows& rows, Timestamp now, std::size_t most);
  void rest(Timestamp now);
  void take_tail(Rows& rows, Timestamp now, std::size_t most);

  std::int64_t tail_{0};  ///< 0: no cursor
  std::int64_t sweep_{0};
  std::size_t sweep_walked_{0};
  std::size_t sweep_unrested_{0};  ///< rows walked that it has not rested for
  Timestamp sweep_rest_until_{};
  bool tail_fills_claims_{false};    ///< as of the last take()
  std::vector<std::int64_t> hints_;  ///< ids of settled events whose aggregates may move
  bool more_{false};
};

}  // namespace waybill::backends
