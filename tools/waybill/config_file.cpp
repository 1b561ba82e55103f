#include "config_file.hpp"

#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "waybill/error.hpp"
#include "waybill/options.hpp"

namespace waybill::cli {
namespace {

constexpr std::string_view kTableSection = "table";

class ConfigFile {
 public:
  ConfigFile(std::string path, std::span<const VerbNames> known) : path_(std::move(path)), known_(known) {
    try {
      root_ = toml::parse_file(path_);
    } catch (const toml::parse_error& error) {
      const auto line = error.source().begin.line;  // 0: the file could not be read at all
      throw ConfigError(path_ + (line == 0 ? std::string{} : ":" + std::to_string(line)) + ": " +
                        std::string{error.description()});
    }
  }

  void check_names() const;
  void give(const toml::table* table, CLI::App& app) const;
  [[nodiscard]] const toml::table& root() const { return root_; }
  [[nodiscard]] std::optional<TableModel> read_table() const;

 private:
  [[noreturn]] void fail(const toml::node& node, const std::string& what) const {
    throw ConfigError(path_ + ":" + std::to_string(node.source().begin.line) + ": " + what);
  }
  [[noreturn]] void fail_unknown(const toml::node& node, const std::string& what, std::string_view name,
                                 const std::vector<std::string>& candidates) const;
  [[nodiscard]] const VerbNames* find_verb(std::string_view name) const;
  void check_table(const toml::table& table, const std::string& place, const std::vector<std::string>& names) const;
  [[nodiscard]] std::vector<std::string> values(const toml::node& node) const;
  [[nodiscard]] std::string value(const toml::node& node) const;
  [[nodiscard]] const toml::table& section(const toml::node& node) const;
  [[nodiscard]] std::map<std::string, std::string> pairs(const toml::node* node) const;
  void read_status(const toml::node& node, StatusValues& status) const;

  std::string path_;
  std::span<const VerbNames> known_;
  toml::table root_;
};

void ConfigFile::fail_unknown(const toml::node& node, const std::string& what, std::string_view name,
                              const std::vector<std::string>& candidates) const {
  const std::string near = nearest_name(name, candidates);
  fail(node, "unknown " + what + " '" + std::string{name} + "'" +
                 (near.empty() ? std::string{} : "; did you mean '" + near + "'?"));
}

const VerbNames* ConfigFile::find_verb(std::string_view name) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const VerbNames& v) { return v.verb == name; });
  return found == known_.end() ? nullptr : &*found;
}

void ConfigFile::check_table(const toml::table& table, const std::string& place,
                             const std::vector<std::string>& names) const {
  for (const auto& [key, node] : table)
    if (std::find(names.begin(), names.end(), key.str()) == names.end())
      fail_unknown(node, "key in " + place, key.str(), names);
}

/// The whole file, whichever verb runs: a misspelt key must not wait for its verb to be found.
void ConfigFile::check_names() const {
  std::vector<std::string> verbs;
  std::vector<std::string> everywhere;
  for (const VerbNames& verb : known_) {
    verbs.emplace_back(verb.verb);
    everywhere.insert(everywhere.end(), verb.options.begin(), verb.options.end());
  }
  for (const auto& [key, node] : root_) {
    if (key.str() == kTableSection) continue;  // read_table() looks at that
    if (const toml::table* table = node.as_table()) {
      const VerbNames* verb = find_verb(key.str());
      if (verb == nullptr) fail_unknown(node, "table", key.str(), verbs);
      check_table(*table, "[" + std::string{key.str()} + "]", verb->options);
    } else if (std::find(everywhere.begin(), everywhere.end(), key.str()) == everywhere.end()) {
      fail_unknown(node, "key", key.str(), everywhere);
    }
  }
}

std::string ConfigFile::value(const toml::node& node) const {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (!node.is_table() && !node.is_array()) {  // a float, date or time: as TOML writes it
    std::ostringstream out;
    node.visit([&out](const auto& inner) { out << inner; });
    return out.str();
  }
  fail(node, "a value must be a text, a number, true or false, or a list of them");
}

std::vector<std::string> ConfigFile::values(const toml::node& node) const {
  std::vector<std::string> texts;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) texts.push_back(value(item));
  } else {
    texts.push_back(value(node));
  }
  return texts;
}

/// Options that have a value already (from the command line or a table before this one) keep it.
void ConfigFile::give(const toml::table* table, CLI::App& app) const {
  if (table == nullptr) return;
  for (const auto& [key, node] : *table) {
    if (node.is_table()) continue;
    CLI::Option* option = app.get_option_no_throw("--" + std::string{key.str()});
    if (option == nullptr || option->count() > 0) continue;
    try {
      option->add_result(values(node));
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      fail(node, error.what());
    }
  }
}

const toml::table& ConfigFile::section(const toml::node& node) const {
  if (const toml::table* table = node.as_table()) return *table;
  fail(node, "this must be a section of its own, as [table.columns] is");
}

std::map<std::string, std::string> ConfigFile::pairs(const toml::node* node) const {
  std::map<std::string, std::string> pairs;
  if (node == nullptr) return pairs;
  for (const auto& [key, inner] : section(*node)) {
    const auto& names = model_columns();
    if (std::find(names.begin(), names.end(), key.str()) == names.end())
      fail_unknown(inner, "column of biz_outbox_event", key.str(), names);
    pairs.emplace(key.str(), value(inner));
  }
  return pairs;
}

void ConfigFile::read_status(const toml::node& node, StatusValues& status) const {
  const std::map<std::string_view, std::vector<std::string>*> places{
      {"pending", &status.pending},     {"in_progress", &status.in_progress}, {"retrying", &status.retrying},
      {"succeeded", &status.succeeded}, {"failed", &status.failed},           {"cancelled", &status.cancelled}};
  std::vector<std::string> names;
  for (const auto& [name, place] : places) names.emplace_back(name);
  std::optional<bool> text;
  const auto add = [&](const toml::node& one, std::vector<std::string>& place) {
    if (text && *text != one.is_string()) fail(one, "status values must be all numbers or all texts");
    text = status.text = one.is_string();
    place.push_back(value(one));
  };
  for (const auto& [key, inner] : section(node)) {
    const auto place = places.find(key.str());
    if (place == places.end()) fail_unknown(inner, "key in [table.status]", key.str(), names);
    if (const toml::array* list = inner.as_array())
      for (const toml::node& one : *list) add(one, *place->second);
    else
      add(inner, *place->second);
  }
}

std::optional<TableModel> ConfigFile::read_table() const {
  const toml::node* node = root_.get(kTableSection);
  if (node == nullptr) return std::nullopt;
  const toml::table& table = section(*node);
  check_table(table, "[table]",
              {"name", "delivery_table", "filter", "order", "time_zone", "columns", "constants", "status"});
  TableModel model;
  const auto read = [&](std::string_view name, std::string& place) {
    if (const toml::node* given = table.get(name)) place = value(*given);
  };
  read("name", model.table);
  read("delivery_table", model.delivery_table);
  read("filter", model.filter);
  read("order", model.order);
  read("time_zone", model.time_zone);
  model.columns = pairs(table.get("columns"));
  model.constants = pairs(table.get("constants"));
  if (const toml::node* status = table.get("status")) read_status(*status, model.status);
  try {
    require_valid(model);
  } catch (const ConfigError& error) {
    fail(*node, error.what());
  }
  return model;
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (name != "help" && name != "config") names.push_back(name);
  return names;
}

std::optional<TableModel> apply_config(const std::string& path, const Verb& verb, std::span<const VerbNames> known,
                                       CLI::App& app) {
  const ConfigFile file{path, known};
  file.check_names();
  file.give(file.root()[verb.name].as_table(), app);
  file.give(&file.root(), app);
  if (!verb.also_table.empty()) file.give(file.root()[verb.also_table].as_table(), app);
  return file.read_table();
}

}  // namespace waybill::cli
