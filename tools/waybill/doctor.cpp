// `waybill doctor`: is the store as it should be?

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "routes.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

using Level = Finding::Level;

constexpr Duration kOldBacklog = std::chrono::hours{1};
constexpr Duration kLongDelivery = std::chrono::hours{1};

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

Finding backlog_finding(IEventRepository& store) {
  const Backlog backlog = store.backlog();
  const std::string depth = counted(backlog.depth(), "unfinished event");
  if (!backlog.oldest) return {Level::ok, "backlog", depth, {}};
  const Duration age = std::max(store.now() - *backlog.oldest, Duration{0});
  const std::string seen = depth + ", the oldest from " + format_time(*backlog.oldest);
  if (age < kOldBacklog) return {Level::ok, "backlog", seen, {}};
  return {Level::warning, "backlog", seen, "start a relay, or see what holds it: waybill list --status failed"};
}

Finding dead_finding(IEventRepository& store) {
  const std::uint64_t dead = store.stats({}).dead;
  if (dead == 0) return {Level::ok, "dead", "no dead events", {}};
  return {Level::warning, "dead", counted(dead, "event") + " will not be tried again",
          "waybill list --status dead says why; then waybill retry, or waybill cancel"};
}

Finding progress_finding(IEventRepository& store) {
  EventFilter filter;
  filter.statuses = {Status::in_progress};
  std::size_t stuck = 0;
  std::string owner;
  for (const Event& event : store.query(filter, {})) {
    if (!event.last_publish_time || store.now() - *event.last_publish_time < kLongDelivery) continue;
    ++stuck;
    owner = event.locked_by.value_or("nobody");
  }
  if (stuck == 0) return {Level::ok, "in-progress", "none for longer than an hour", {}};
  return {Level::warning, "in-progress", counted(stuck, "event") + " for over an hour, one of them held by " + owner,
          "see what that relay waits for; when it is gone, its lease runs out and another one takes over"};
}

Finding route_finding(IEventRepository& store) {
  const std::optional<RouteFilter> routes = saved_routes(store);
  if (!routes) return {Level::ok, "routes", "no relay has run yet", {}};
  const std::uint64_t count = count_unroutable(store, *routes);
  if (count == 0) return {Level::ok, "routes", "every unfinished event has one", {}};
  return {Level::warning, "routes", counted(count, "event") + " unroutable: no --to of the last relay takes them",
          "give the relay a route for them; waybill list --status pending shows channel and topic"};
}

/// A store that can't even be opened is a finding, too.
std::vector<Finding> diagnose(const Session& session) {
  try {
    const auto store = session.open(OpenMode::read_only);
    std::vector<Finding> findings = store->diagnose();
    for (const auto& check : {backlog_finding, dead_finding, progress_finding, route_finding})
      findings.push_back(check(*store));
    return findings;
  } catch (const StorageError& error) {
    const bool init_helps = std::string_view(error.what()).find("`waybill init`") != std::string_view::npos;
    const std::string advice = init_helps ? "waybill init --store " + session.store_name() : std::string{};
    return {{Level::error, "open", error.what(), advice}};
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
