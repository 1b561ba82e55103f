#pragma once
// What all measures of a run share.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "loop.hpp"
#include "report.hpp"
#include "samples.hpp"
#include "workspace.hpp"

namespace waybill::bench {

/// Events, rows and seconds of each measure.
struct Sizes {
  std::size_t chunks{10};  ///< turns each side gets in a round
  std::size_t append_1{200};
  std::size_t batch_100{2000};  ///< events in a turn
  std::size_t batch_1000{4000};
  std::uint64_t finished{1'000'000};
  std::uint64_t pending{1'000'000};
  std::uint64_t dead{100'000};
  std::uint64_t future{100'000};
  std::size_t claims{20};  ///< in a round
  std::size_t blocked{10'000};
  std::size_t followers{50};  ///< of each blocked aggregate
  std::size_t healthy{50'000};
  std::size_t wakeups{1000};
  int idle_seconds{4};
  int contention_seconds{3};
  std::size_t group{2000};  ///< events of all producers together
  std::uint64_t drain{1'000'000};

  [[nodiscard]] static Sizes quick();
};

/// What one side used in one round.
struct Effort {
  std::size_t events{0};
  double seconds{0};
  double cpu_seconds{0};
  std::uint64_t wchar{0};
  std::uint64_t write_bytes{0};

  [[nodiscard]] double rate() const { return seconds > 0 ? static_cast<double>(events) / seconds : 0; }
  [[nodiscard]] double per_event(double amount) const { return events > 0 ? amount / static_cast<double>(events) : 0; }
};

struct Round {
  Effort ours;
  std::optional<Effort> naive;
};

/// Files with a long history, built when first asked for: finished rows, later also pending, dead and future ones.
struct History {
  std::filesystem::path ours;
  std::filesystem::path naive;
  bool crowded{false};
};

/// Thread-confined.
struct Context {
  const BenchOptions& options;
  OurStore store;
  Workspace& workspace;
  Report& report;
  Sizes sizes;
  unsigned rounds{7};
  bool full_sync{true};
  Samples samples{};
  std::map<std::string, std::vector<Round>> fought{};
  std::optional<History> history{};

  void progress(const std::string& text) const;
  /// Which rounds the ratio of a measure came from, with its events/s, CPU and bytes.
  void add(Measurement line) { report.measurements.push_back(std::move(line)); }
};

}  // namespace waybill::bench
