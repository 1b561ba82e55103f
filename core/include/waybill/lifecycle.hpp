#pragma once
// The one table of state transitions (DESIGN §2). The in-memory store applies it, the guards in SQL are rendered from
// it, the property tests check it.

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "waybill/event.hpp"

namespace waybill {

enum class Command : std::uint8_t { claim, succeed, fail, reject, release, expire, requeue, cancel };

inline constexpr std::array<Command, 8> kAllCommands{Command::claim,   Command::succeed, Command::fail,
                                                     Command::reject,  Command::release, Command::expire,
                                                     Command::requeue, Command::cancel};

[[nodiscard]] std::string_view to_string(Command command) noexcept;

/// A set of statuses as bits.
class StatusSet {
 public:
  constexpr StatusSet() = default;
  constexpr StatusSet(std::initializer_list<Status> statuses) {
    for (const Status status : statuses) bits_ |= bit(status);
  }
  [[nodiscard]] constexpr bool contains(Status status) const noexcept { return (bits_ & bit(status)) != 0; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr int size() const noexcept { return std::popcount(bits_); }
  constexpr void insert(Status status) noexcept { bits_ |= bit(status); }
  constexpr bool operator==(const StatusSet&) const = default;

 private:
  static constexpr std::uint32_t bit(Status status) noexcept { return 1U << static_cast<unsigned>(status); }
  std::uint32_t bits_{0};
};

struct Transition {
  Command command;
  StatusSet from;
  Status to;
  bool fenced;  ///< applies only to the holder of the claim's version
};

inline constexpr std::array<Transition, 8> kTransitions{{
    {Command::claim, {Status::pending, Status::failed}, Status::in_progress, false},
    {Command::succeed, {Status::in_progress}, Status::succeeded, true},
    {Command::fail, {Status::in_progress}, Status::failed, true},
    {Command::reject, {Status::in_progress}, Status::failed, true},
    {Command::release, {Status::in_progress}, Status::pending, true},
    {Command::expire, {Status::in_progress}, Status::failed, true},
    {Command::requeue, {Status::failed}, Status::pending, false},
    {Command::cancel, {Status::pending, Status::failed}, Status::cancelled, false},
}};

[[nodiscard]] constexpr const Transition& transition(Command command) noexcept {
  return kTransitions[static_cast<std::size_t>(command)];
}

/// Nothing leaves a final state.
[[nodiscard]] constexpr bool is_final(Status status) noexcept {
  for (const Transition& row : kTransitions)
    if (row.from.contains(status)) return false;
  return true;
}

/// Failed, and never retried by itself: the budget is used up or no next time is set.
[[nodiscard]] constexpr bool is_dead(const DeliveryState& state) noexcept {
  return state.publish_status == Status::failed &&
         (state.retry_count >= state.max_retry_count || !state.next_retry_time.has_value());
}

[[nodiscard]] constexpr bool is_due(const DeliveryState& state, Timestamp now) noexcept {
  return !state.next_retry_time.has_value() || *state.next_retry_time <= now;
}

[[nodiscard]] constexpr bool is_claimable(const DeliveryState& state, Timestamp now) noexcept {
  return transition(Command::claim).from.contains(state.publish_status) && is_due(state, now) && !is_dead(state);
}

/// What a command needs to know; fields a command has no use for are ignored.
struct CommandInput {
  Command command{Command::claim};
  Timestamp now{};
  std::string owner;        ///< claim: the new holder; fenced commands: must equal `locked_by`
  std::int32_t version{0};  ///< fenced commands: must equal the state's version
  Duration lease{0};        ///< claim
  std::optional<Timestamp>
      next_retry_time;  ///< fail, expire: when again (nullopt: dead); release: due (nullopt: at once)
  std::string reason;   ///< fail, reject, expire, cancel; kept to 1000 characters
};

/// Applies one command. False, and nothing changed, when the state, the guard or the fencing token forbids it.
[[nodiscard]] bool apply(DeliveryState& state, const CommandInput& input);

/// The reason as a store keeps it: valid UTF-8, at most 1000 characters (the width of `fail_reason`).
[[nodiscard]] std::string clip_reason(std::string_view reason);

}  // namespace waybill
