#pragma once
// `waybill` as people run it: in a folder of its own with an SQLite file a.db.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::test {

using Json = nlohmann::json;

class Cli {
 public:
  Cli() = default;

  /// Runs `waybill WORDS…` with `input` on standard input.
  [[nodiscard]] ProcessResult run(const std::vector<std::string>& words, const std::string& input = {},
                                  const std::filesystem::path& output = {}) const;
  /// The same with `--store sqlite:a.db` behind the words.
  [[nodiscard]] ProcessResult on_store(std::vector<std::string> words, const std::string& input = {}) const;
  /// Requires status 0 and returns standard output.
  std::string ok(const std::vector<std::string>& words, const std::string& input = {}) const;

  /// Starts `waybill WORDS… --store sqlite:a.db`; standard output and error go to the files `out` and `err`.
  [[nodiscard]] std::unique_ptr<Process> start(std::vector<std::string> words) const;

  void init() const { (void)ok({"init"}); }
  void put(const std::vector<Json>& events) const;
  /// `stats --json`.
  [[nodiscard]] Json stats() const { return Json::parse(ok({"stats", "--json"})); }
  /// The store from within, for states no verb makes.
  [[nodiscard]] std::unique_ptr<IEventRepository> open() const;
  /// Claims all that is due and records the same failure for each; dead when `again` says nothing.
  void fail_all(const std::string& reason, std::optional<Duration> again = {}) const;

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return dir_.path() / name; }

 private:
  TempDir dir_;
};

/// A valid event as a line's object; more keys can be set on it.
[[nodiscard]] Json event_json(const std::string& event_no, const std::string& aggregate_id = "1");
[[nodiscard]] std::string ndjson(const std::vector<Json>& events);
/// One parsed object a line.
[[nodiscard]] std::vector<Json> parse_lines(const std::string& text);
/// The values of one key, line by line.
[[nodiscard]] std::vector<std::string> column(const std::vector<Json>& lines, const std::string& key);

}  // namespace waybill::test
