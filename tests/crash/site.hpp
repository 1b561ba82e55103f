#pragma once
// One store and the command's verbs on it.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace waybill::test {

using Words = std::vector<std::string>;

/// `stats --json`.
struct Books {
  std::uint64_t pending{0};
  std::uint64_t in_progress{0};
  std::uint64_t succeeded{0};
  std::uint64_t failed{0};
  std::uint64_t cancelled{0};
  std::uint64_t dead{0};
  std::uint64_t archived{0};
  std::uint64_t purged{0};
  std::uint64_t dropped{0};

  /// Every event ever accepted is in one of these.
  [[nodiscard]] std::uint64_t accepted() const {
    return pending + in_progress + succeeded + failed + cancelled + archived + purged + dropped;
  }
  [[nodiscard]] std::uint64_t unfinished() const { return pending + in_progress + failed; }
};

/// What `--store` is given.
struct StoreUrl {
  std::string text;
};

/// A folder with a store of its own; every program runs in it. Helpers fail the test when a verb fails.
class Site {
 public:
  /// An SQLite store is made in `folder`, or in the site's own.
  explicit Site(std::filesystem::path folder = {});
  /// The store is made on a server.
  explicit Site(StoreUrl store);

  [[nodiscard]] const std::filesystem::path& folder() const { return scratch_.path(); }
  [[nodiscard]] const std::filesystem::path& database() const { return database_; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder() / name; }

  /// `waybill VERB --store … WORDS`.
  [[nodiscard]] ProcessOptions verb(Words words) const;
  [[nodiscard]] ProcessResult try_run(Words words, const std::string& input = {}) const;
  /// Standard output of a verb that must succeed.
  std::string run(Words words, const std::string& input = {}) const;
  [[nodiscard]] Books books() const;
  /// `list --json`: one object an event, by id.
  [[nodiscard]] std::vector<nlohmann::json> list() const;

  /// What a relay is started with, its streams going to files named after it.
  [[nodiscard]] ProcessOptions relay(const std::string& name, Words words) const;
  [[nodiscard]] std::filesystem::path errors_of(const std::string& name) const { return file(name + ".err"); }
  [[nodiscard]] std::filesystem::path output_of(const std::string& name) const { return file(name + ".ndjson"); }
  /// `relay --drain` until nothing is left; returns what it wrote.
  [[nodiscard]] std::string drain(const std::string& name, Words words = {}) const;

  /// SQLite's own opinion of its file. A server's tables are not looked at.
  void check_file_is_sound() const;

 private:
  TempDir scratch_{"waybill-crash"};
  std::filesystem::path database_;  ///< empty: the store is on a server
  StoreUrl store_;
};

/// A line of `put`.
[[nodiscard]] nlohmann::json input_event(const std::string& event_no, const std::string& aggregate_id,
                                         std::size_t payload_bytes = 40);
[[nodiscard]] std::string to_lines(const std::vector<nlohmann::json>& events);
/// `count` events "e1", "e2", … of `aggregates` aggregates in turn.
[[nodiscard]] std::vector<nlohmann::json> input_events(std::size_t count, std::size_t aggregates,
                                                       std::size_t payload_bytes = 40);

/// Asks `stats` until it holds, or fails the test.
template <class Condition>
void wait_for_books(const Site& site, const char* what, Condition&& condition,
                    std::chrono::seconds deadline = std::chrono::seconds{60}) {
  if (!eventually([&] { return condition(site.books()); }, deadline))
    throw std::runtime_error(std::string{"waited in vain: "} + what);
}

}  // namespace waybill::test
