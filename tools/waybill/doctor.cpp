// `waybill doctor`: is the store as it should be?

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples = R"(Exit status: 1 when a finding is an error; warnings alone are 0.

Examples:
  waybill doctor --store sqlite:events.db
  waybill doctor --store sqlite:events.db --json | jq 'select(.level != "ok")')";

const char* level_name(Finding::Level level) {
  switch (level) {
    case Finding::Level::ok:
      return "ok";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::error:
      break;
  }
  return "error";
}

/// A store that can't even be opened is a finding, too.
std::vector<Finding> diagnose(const Session& session) {
  try {
    return session.open(OpenMode::read_only)->diagnose();
  } catch (const StorageError& error) {
    const std::string advice =
        error.code() == ErrorCode::schema ? "waybill init --store " + session.store_name() : std::string{};
    return {{Finding::Level::error, "open", error.what(), advice}};
  }
}

void print_json(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    print_line(nlohmann::ordered_json{{"level", level_name(finding.level)},
                                      {"name", finding.name},
                                      {"detail", finding.detail},
                                      {"advice", finding.advice}}
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<Finding>& findings) {
  Table table{{{"LEVEL", 0}, {"CHECK", 0}, {"SEEN", 0}}};
  for (const Finding& finding : findings) {
    table.add({level_name(finding.level), finding.name, finding.detail});
    if (!finding.advice.empty()) table.add({"", "", "-> " + finding.advice});
  }
  table.print();
}

int run(const Session& session) {
  const std::vector<Finding> findings = diagnose(session);
  session.common.json ? print_json(findings) : print_table(findings);
  for (const Finding& finding : findings)
    if (finding.level == Finding::Level::error) return kFailed;
  return kDone;
}

}  // namespace

Action define_doctor(CLI::App& app, Session& session) {
  app.footer(kExamples);
  return [&session] { return run(session); };
}

}  // namespace waybill::cli
