#pragma once
// `waybill` as a process on a shop's database.

#include <nlohmann/json.hpp>

#include "adopted/tables.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace waybill::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// A folder with a configuration file for each model.
class Command {
 public:
  explicit Command(const Shop& shop) : shop_(shop) {}

  /// From now on verbs get `--config` with this text.
  void configure(const std::string& toml) {
    write_file(path("table.toml"), toml);
    configured_ = true;
  }
  void configure(const TableModel& model) { configure(toml_of(model)); }

  /// `waybill VERB --store URL [--config table.toml] WORDS…`; `query` goes into the URL.
  [[nodiscard]] ProcessOptions words(Words words, const std::string& query = {}) const {
    ProcessOptions options;
    options.program = WAYBILL_COMMAND;
    options.directory = folder_.path();
    Words front{"--store", shop_.url(query)};
    if (configured_) front.insert(front.end(), {"--config", "table.toml"});
    words.insert(words.begin() + 1, front.begin(), front.end());
    options.arguments = std::move(words);
    return options;
  }
  [[nodiscard]] ProcessResult run(Words given, const std::string& query = {}) const {
    const TempDir streams{"run", folder_.path()};
    return run_process(words(std::move(given), query), {}, streams.path());
  }
  /// Requires status 0 and returns standard output.
  std::string ok(Words given, const std::string& query = {}) const {
    const std::string verb = given.front();
    const ProcessResult result = run(std::move(given), query);
    INFO("waybill " << verb << ": " << result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  const Shop& shop_;
  TempDir folder_{"waybill-command"};
  bool configured_{false};
};

}  // namespace waybill::test
