#pragma once
// Ours and the hand-written loop taking turns: both files are open beside each other and each side gets the same events
// in short turns, so that a disk that becomes slow is slow for both.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "context.hpp"

namespace waybill::bench {

struct Duel {
  std::string name;
  std::string title;
  std::size_t events_per_turn{2000};
  /// Untimed, on a connection of its own that is closed again: what must be there before. May be empty.
  std::function<void(Loop&)> prepare;
  /// One turn.
  std::function<void(Loop&, std::span<const NewEvent>)> turn;
  /// Work on these files and keep them; else each round has fresh ones.
  std::optional<History> files;
};

/// The time of a side is that of its turns, of settling what is left and of closing the file (with the checkpoint that
/// brings), so that nobody leaves work behind.
[[nodiscard]] std::vector<Round> fight(Context& context, const Duel& duel);

/// The line of the table: medians of the rates, the ratio of each round, CPU and bytes below.
[[nodiscard]] Measurement line_of(const Duel& duel, const std::vector<Round>& rounds);

}  // namespace waybill::bench
