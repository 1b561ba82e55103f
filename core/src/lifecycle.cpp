#include "waybill/lifecycle.hpp"

#include <limits>

#include "utf8.hpp"

namespace waybill {
namespace {

constexpr std::size_t kMaxReason = 1000;  ///< characters: VARCHAR(1000) of `fail_reason`

constexpr std::array<std::string_view, 8> kCommandNames{"claim",   "succeed", "fail",    "reject",
                                                        "release", "expire",  "requeue", "cancel"};

void unlock(DeliveryState& state) {
  state.locked_by.reset();
  state.lock_until.reset();
}

bool guard_holds(const DeliveryState& state, const CommandInput& input) {
  const Transition& row = transition(input.command);
  if (!row.from.contains(state.publish_status)) return false;
  if (row.fenced && (state.version != input.version || state.locked_by.value_or("") != input.owner)) return false;
  if (input.command == Command::claim)
    return is_claimable(state, input.now) && state.version < std::numeric_limits<std::int32_t>::max();
  if (input.command == Command::expire) return state.lock_until.has_value() && *state.lock_until <= input.now;
  return true;
}

void count_attempt(DeliveryState& state, std::optional<Timestamp> next, const std::string& reason) {
  if (state.retry_count < std::numeric_limits<std::int32_t>::max()) ++state.retry_count;
  // A dead event has no next time, so that one index serves all that will be retried.
  state.next_retry_time = state.retry_count >= state.max_retry_count ? std::nullopt : next;
  state.fail_reason = clip_reason(reason);
  unlock(state);
}

}  // namespace

std::string_view to_string(Command command) noexcept {
  const auto number = static_cast<std::size_t>(command);
  return number < kCommandNames.size() ? kCommandNames[number] : "unknown";
}

bool apply(DeliveryState& state, const CommandInput& input) {
  if (!guard_holds(state, input)) return false;
  state.publish_status = transition(input.command).to;
  switch (input.command) {
    case Command::claim:
      ++state.version;
      state.locked_by = input.owner;
      state.lock_until = input.now + input.lease;
      state.last_publish_time = input.now;
      break;
    case Command::succeed:
      state.published_time = input.now;
      state.fail_reason.reset();
      unlock(state);
      break;
    case Command::fail:
    case Command::expire:
      count_attempt(state, input.next_retry_time, input.reason);
      break;
    case Command::reject:
      count_attempt(state, std::nullopt, input.reason);
      break;
    case Command::release:
      state.next_retry_time = input.next_retry_time;
      unlock(state);
      break;
    case Command::requeue:
      state.retry_count = 0;
      state.next_retry_time = input.now;
      break;
    case Command::cancel:
      state.fail_reason = clip_reason(input.reason);
      break;
  }
  return true;
}

std::string clip_reason(std::string_view reason) {
  return utf8::clip(reason, kMaxReason, [](char c) { return c == '\0'; });
}

}  // namespace waybill
