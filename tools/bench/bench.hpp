#pragma once
// `waybill bench`: how fast the store is on this machine, beside a hand-written loop, in the same run on fresh files in
// the same directory. The store URL names the directory and the options to measure with; its file is never opened.

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace waybill::bench {

struct BenchOptions {
  std::string store{"sqlite:waybill.db"};  ///< --store URL: its path (or, if that is a folder, it) says where to work
  std::vector<std::string> only;           ///< --only NAME[,NAME…]: these measures; empty: all the store can do
  bool quick{false};                       ///< --quick: smaller counts, under a minute; says less
  unsigned rounds{0};                      ///< --rounds N: 1..99; 0: 7, with quick 3
  bool json{false};                        ///< --json: one object instead of the table
  std::string command;                     ///< the program measured as `relay --drain`; empty: this one. No flag
  std::ostream* progress{nullptr};         ///< one rewritten line; pass std::cerr when it is a terminal, else nothing
};

struct MeasureInfo {
  std::string_view name;  ///< as --only takes it
  std::string_view help;  ///< one line
};
/// In the order they run; for the help text.
[[nodiscard]] std::span<const MeasureInfo> measures() noexcept;

/// Measures and writes the report to `out`. Returns the exit status: 0 done, whether or not a goal was reached; 1 ended
/// by SIGINT or SIGTERM, with what was measured until then. Leaves no file behind. Call it with no other thread running
/// and no SQLite connection open: it forks. Throws ConfigError (unknown measure, bad URL), StorageError and
/// std::runtime_error (no room on disk, a child process failed).
[[nodiscard]] int run(const BenchOptions& options, std::ostream& out);

}  // namespace waybill::bench
