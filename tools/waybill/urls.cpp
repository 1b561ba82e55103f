// `waybill urls`: the stores and transports of this build, out of their own tables.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

const char* type_name(OptionType type) {
  switch (type) {
    case OptionType::text:
      return "text";
    case OptionType::integer:
      return "number";
    case OptionType::bytes:
      return "bytes";
    case OptionType::duration:
      return "duration";
    case OptionType::boolean:
      return "yes|no";
    case OptionType::choice:
      break;
  }
  return "choice";
}

std::string values_of(const OptionSpec& spec) {
  if (spec.type == OptionType::choice) return std::string{spec.choices};
  std::string text = type_name(spec.type);
  if (!spec.choices.empty()) text += " " + std::string{spec.choices};
  return text;
}

template <class Interface>
void print_text(const char* title, const FactoryRegistry<Interface>& registry) {
  print_line(title);
  for (const auto& [scheme, entry] : registry.entries()) {
    print_line("  " + entry.usage + "   " + entry.help);
    if (entry.options.empty()) continue;
    Table table{{{"    OPTION", 0}, {"VALUES", 0}, {"DEFAULT", 0}, {"", 0}}};
    for (const OptionSpec& spec : entry.options)
      table.add(
          {"    " + std::string{spec.name}, values_of(spec), std::string{spec.default_value}, std::string{spec.help}});
    table.print();
  }
}

template <class Interface>
void print_json(const char* kind, const FactoryRegistry<Interface>& registry) {
  for (const auto& [scheme, entry] : registry.entries()) {
    nlohmann::ordered_json options = nlohmann::ordered_json::array();
    for (const OptionSpec& spec : entry.options)
      options.push_back({{"name", spec.name},
                         {"type", type_name(spec.type)},
                         {"values", values_of(spec)},
                         {"default", spec.default_value},
                         {"help", spec.help}});
    print_line(nlohmann::ordered_json{
        {"kind", kind}, {"scheme", scheme}, {"usage", entry.usage}, {"help", entry.help}, {"options", options}}
                   .dump());
  }
}

}  // namespace

Action define_urls(CLI::App& app, Session& session) {
  app.footer(
      "Options go behind a question mark: sqlite:events.db?synchronous=normal&busy_timeout=10s\n\n"
      "Examples:\n  waybill urls\n  waybill urls --json");
  return [&session] {
    if (session.common.json) {
      print_json("store", session.stores);
      print_json("transport", session.transports);
    } else {
      print_text("Stores (--store URL)", session.stores);
      print_text("\nTransports (relay --to [PATTERN=]URL)", session.transports);
    }
    return static_cast<int>(kDone);
  };
}

}  // namespace waybill::cli
