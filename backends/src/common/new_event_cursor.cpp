#include "common/new_event_cursor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace waybill::backends {
namespace {

constexpr Duration kRestPerRow{30};  // ten times what walking a row takes
constexpr Duration kLongestRest = std::chrono::seconds{60};
constexpr std::size_t kMostHints = 10000;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

}  // namespace

void NewEventCursor::start_over() noexcept {
  tail_ = sweep_ = 0;
  sweep_walked_ = sweep_unrested_ = 0;
  sweep_rest_until_ = Timestamp{};
  hints_.clear();
}

void NewEventCursor::hint(std::int64_t event_id) {
  if (event_id >= tail_) return;  // so are its followers
  if (hints_.size() < kMostHints)
    hints_.push_back(event_id);
  else
    sweep_rest_until_ = Timestamp{};
}

bool NewEventCursor::take(Rows& rows, Timestamp now, std::size_t most) {
  more_ = false;
  if (tail_ != 0) most -= take_hinted(rows, most);
  if (tail_ != 0) most -= sweep(rows, now, most);
  take_tail(rows, now, most);
  return more_;
}

void NewEventCursor::take_tail(Rows& rows, Timestamp now, std::size_t most) {
  tail_fills_claims_ = false;
  if (most == 0) return;
  const Walk walk = rows.walk(tail_, kNoEnd, most);
  tail_fills_claims_ = walk.taken == most;
  if (walk.walked < kQuantum) return;
  tail_ = walk.last_id;
  sweep_rest_until_ = std::max(sweep_rest_until_, now + kRestPerRow * static_cast<int>(walk.walked));
  more_ = true;
}

std::size_t NewEventCursor::sweep(Rows& rows, Timestamp now, std::size_t most) {
  // A clock that stepped back must not put the sweep to rest for years.
  const bool resting = now < sweep_rest_until_ && sweep_rest_until_ - now <= kLongestRest;
  const bool midway = sweep_ != 0;
  if (most == 0 || (resting && (tail_fills_claims_ || !midway))) {
    more_ = more_ || midway;
    return 0;
  }
  const Walk walk = rows.walk(sweep_, tail_, most);
  sweep_ = walk.last_id;
  sweep_walked_ += walk.walked;
  sweep_unrested_ += walk.walked;
  if (!walk.at_end) {
    more_ = true;
    if (tail_fills_claims_ && walk.taken == 0) rest(now);
    return walk.taken;
  }
  rest(now);
  if (sweep_walked_ < kQuantum) tail_ = 0;
  sweep_ = 0;
  sweep_walked_ = 0;
  return walk.taken;
}

void NewEventCursor::rest(Timestamp now) {
  const auto rows = static_cast<int>(std::min<std::size_t>(std::exchange(sweep_unrested_, 0), 1U << 24));
  sweep_rest_until_ = now + std::min(kLongestRest, kRestPerRow * rows);
}

// The run of events in front of the cursor that became free by what we settled.
std::size_t NewEventCursor::take_hinted(Rows& rows, std::size_t most) {
  std::size_t taken = 0;
  while (!hints_.empty() && taken < most) {
    const std::size_t run = rows.follow(hints_.back(), tail_, most - taken);
    if (run < most - taken) hints_.pop_back();  // else there may be more of it
    taken += run;
  }
  return taken;
}

}  // namespace waybill::backends
