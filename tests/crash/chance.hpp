#pragma once
// Chance that can be repeated.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace waybill::test {

/// A seed of WAYBILL_TEST_SEED, else a fresh one; printed either way. Processes and their scheduling stay as they are:
/// a seed repeats what the test does and when, not what the machine makes of it.
class Chance {
 public:
  explicit Chance(const std::string& test) : seed_(pick()), engine_(seed_) {
    std::cout << test << ": repeat with WAYBILL_TEST_SEED=" << seed_ << std::endl;
  }

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  /// From `low` to `high`, both included.
  [[nodiscard]] int between(int low, int high) { return std::uniform_int_distribution<int>{low, high}(engine_); }
  [[nodiscard]] bool percent(int share) { return between(1, 100) <= share; }

 private:
  static std::uint64_t pick() {
    const char* given = std::getenv("WAYBILL_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }

  std::uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace waybill::test
