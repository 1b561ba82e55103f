#include "waybill/breaker.hpp"

#include <algorithm>

namespace waybill {

Breaker::State Breaker::state(Timestamp now) const noexcept {
  if (!tripped_) return State::closed;
  // A clock that stepped back must not keep the route shut for longer than one pause.
  return now < open_until_ && open_until_ - now <= pause_ ? State::open : State::probing;
}

void Breaker::succeeded() noexcept {
  tripped_ = false;
  pause_ = Duration{0};
  reason_.clear();
}

void Breaker::unavailable(Timestamp now, std::string reason, Duration wish) {
  const Duration doubled = tripped_ ? pause_ * 2 : options_.first_pause;
  pause_ = std::min(std::max(doubled, wish), options_.max_pause);
  tripped_ = true;
  open_until_ = now + pause_;
  reason_ = std::move(reason);
}

}  // namespace waybill
