#include "common/adopted_rows.hpp"

#include <algorithm>

namespace waybill::backends {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kFewest = 1000;
constexpr std::size_t kMost = 10000;
constexpr int kRestFactor = 10;
constexpr std::chrono::milliseconds kShortestRest{200};
constexpr std::chrono::seconds kLongestRest{5};

}  // namespace

bool AdoptedRows::bring_in(std::size_t most, bool ordered) {
  if (chunk_ == 0) chunk_ = std::max(kFewest, 4 * most);
  if (!complete_ || steady_clock::now() >= rest_until_) return look_at_all(most);
  if (!keys_rise_) return false;
  const std::int64_t newest = newest_key();
  if (newest <= newest_) return false;
  if (ordered) return look_at_all(most);
  const std::size_t found = register_behind(newest_, chunk_);
  if (found == chunk_) {
    complete_ = false;
    return true;
  }
  newest_ = newest;
  return false;
}

void AdoptedRows::bring_in_all() {
  tidy();
  (void)register_all(kMost);
}

bool AdoptedRows::look_at_all(std::size_t most) {
  const auto begun = steady_clock::now();
  tidy();
  // Before the search: what is committed while it runs is behind this.
  const std::int64_t newest = keys_rise_ ? newest_key() : 0;
  const std::size_t found = register_all(chunk_);
  complete_ = found < chunk_;
  if (!complete_) {
    // A search walks all that is registered already: the more there is, the more it should bring.
    chunk_ = std::min(kMost, 2 * chunk_);
    return true;
  }
  newest_ = newest;
  chunk_ = std::max(kFewest, 4 * most);
  const auto took = steady_clock::now() - begun;
  rest_until_ =
      steady_clock::now() + std::clamp<steady_clock::duration>(took * kRestFactor, kShortestRest, kLongestRest);
  return false;
}

}  // namespace waybill::backends
