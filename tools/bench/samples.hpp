#pragma once
// The events all sides get: 256 bytes of JSON, event numbers in time order, aggregates drawn evenly from 100,000.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "waybill/event.hpp"

namespace waybill::bench {

inline constexpr std::size_t kPayloadBytes = 256;
inline constexpr std::uint64_t kAggregates = 100'000;
/// Rows that a fixture writes by SQL are numbered from here; appended events come after all of them.
inline constexpr std::uint64_t kFirstSample = 1'000'000'000;

/// Numbered text of 20 characters: `EVT` and 17 digits.
[[nodiscard]] std::string event_number(std::uint64_t number);
/// The number in it.
[[nodiscard]] std::uint64_t number_of(const std::string& event_no);

/// A stream of events; the same start and seed give the same stream.
class Samples {
 public:
  explicit Samples(std::uint64_t first = kFirstSample, std::uint64_t seed = 1) : next_(first), state_(seed) {}
  [[nodiscard]] NewEvent one();
  [[nodiscard]] NewEvent of_aggregate(std::string aggregate_id);
  [[nodiscard]] std::vector<NewEvent> many(std::size_t count);

 private:
  [[nodiscard]] std::uint64_t random();
  std::uint64_t next_;
  std::uint64_t state_;
};

}  // namespace waybill::bench
