#pragma once
// The port to a destination.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waybill/error.hpp"
#include "waybill/event.hpp"

namespace waybill {

/// What became of one event.
struct Outcome {
  enum class Kind {
    delivered,
    retry,          ///< failed; counts an attempt
    rejected,       ///< permanent; dead at once
    unavailable,    ///< the destination is down; counts no attempt
    not_attempted,  ///< held back (order, time, an earlier failure); counts no attempt
  };
  Kind kind{Kind::not_attempted};
  std::string reason;                   ///< why not delivered; no payload, no secret
  std::optional<Duration> retry_after;  ///< retry, unavailable: the destination's wish

  [[nodiscard]] static Outcome delivered() { return {Kind::delivered, {}, {}}; }
  [[nodiscard]] static Outcome retry(std::string why, std::optional<Duration> after = {}) {
    return {Kind::retry, std::move(why), after};
  }
  [[nodiscard]] static Outcome rejected(std::string why) { return {Kind::rejected, std::move(why), {}}; }
  [[nodiscard]] static Outcome unavailable(std::string why, std::optional<Duration> after = {}) {
    return {Kind::unavailable, std::move(why), after};
  }
  [[nodiscard]] static Outcome not_attempted(std::string why) { return {Kind::not_attempted, std::move(why), {}}; }
};

/// Thread-compatible: one instance per relay worker.
class ITransport {
 public:
  virtual ~ITransport() = default;

  /// Delivers within `budget` (a length of time, shorter than the lease) and returns one outcome per event, in order.
  /// Events of one aggregate are delivered in the order given; after the first that is not delivered, the rest of that
  /// aggregate come back not_attempted. Throws TransportError when the destination as a whole is down.
  [[nodiscard]] virtual std::vector<Outcome> deliver(std::span<const Event> events, Duration budget) = 0;

  /// Empty while this instance may still deliver; else why it never will again (its pipe was closed, say).
  [[nodiscard]] virtual std::string finished() const { return {}; }
};

/// Remembers which aggregates of a batch have stopped; for implementing ITransport's ordering rule.
class StoppedAggregates {
 public:
  void stop(const Event& event) { stopped_.push_back(&event); }
  [[nodiscard]] bool contains(const Event& event) const {
    for (const Event* other : stopped_)
      if (same_aggregate(*other, event)) return true;
    return false;
  }

 private:
  std::vector<const Event*> stopped_;
};

}  // namespace waybill
