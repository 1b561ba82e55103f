#pragma once
// Reads what relays wrote, without a line of the engine's code.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace waybill::test {

/// One whole line of `stdout:?format=event`.
struct Delivery {
  std::string event_no;
  std::string aggregate_id;
  std::int64_t id{0};
  std::int32_t version{0};  ///< which claim of the event this is
  std::string owner;        ///< who claimed it
  std::string claimed_at;   ///< on SQLite equal for all events of one claim
  nlohmann::json payload;
};

/// The output of one relay, or of several that append to one file.
struct Output {
  std::vector<Delivery> deliveries;
  bool torn_end{false};       ///< the last line does not end
  std::string torn_event_no;  ///< of that line, as far as it can be read
  std::size_t glued{0};       ///< lines that begin with the torn line of another relay
};

/// Throws std::runtime_error for a line that is no event; a torn one may stand at the end, and, when `shared`, in front
/// of the line that the next relay wrote.
[[nodiscard]] Output read_output(const std::string& text, bool shared = false);

[[nodiscard]] std::set<std::string> numbers_of(const std::vector<Delivery>& deliveries);
/// Deliveries beyond the first of each event.
[[nodiscard]] std::size_t count_repeats(const std::vector<Delivery>& deliveries);

/// Each delivery that breaks the order of its aggregate: an earlier event of the aggregate (a smaller id, of all that
/// are delivered at some time) had not been delivered before. One line of text each.
[[nodiscard]] std::vector<std::string> order_breaks(const std::vector<Delivery>& deliveries);

/// One event delivered twice within one claim. One line of text each.
[[nodiscard]] std::vector<std::string> repeats_within_a_claim(const std::vector<Delivery>& deliveries);

/// The payloads that are not those of the input (event number -> line of `put`), and events nobody put.
[[nodiscard]] std::vector<std::string> differences(const std::vector<Delivery>& deliveries,
                                                   const std::map<std::string, nlohmann::json>& input);

/// Deliveries after which the event was claimed and delivered again: nobody had recorded them.
[[nodiscard]] std::vector<Delivery> unrecorded(const std::vector<Delivery>& deliveries);

}  // namespace waybill::test
