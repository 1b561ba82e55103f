// `waybill check`: a monitoring plug-in (one line, performance data, exit status 0 to 3).

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples =
    R"(A value at or above its threshold warns or is critical; 0 switches a threshold off. Works with Nagios, Icinga,
Zabbix and whatever else runs monitoring plug-ins.

Exit status: 0 ok, 1 warning, 2 critical, 3 unknown (the store can't be asked, or wrong usage).

Examples:
  waybill check --store sqlite:events.db
  waybill check --store sqlite:events.db --backlog-warn 1000 --backlog-crit 10000 --age-warn 1m --age-crit 10m
  waybill check --store sqlite:events.db --dead-warn 1 --dead-crit 50 --json)";

enum class Level : int { ok = 0, warning = 1, critical = 2 };

constexpr const char* kLevelNames[] = {"OK", "WARNING", "CRITICAL"};

template <class Value>
struct Thresholds {
  Value warn{};
  Value crit{};
};

struct CheckOptions {
  Thresholds<std::size_t> backlog{10000, 100000};
  Thresholds<Duration> age{std::chrono::minutes{5}, std::chrono::minutes{30}};
  Thresholds<std::size_t> dead{1, 100};
};

std::uint64_t plain(std::size_t value) { return value; }
std::uint64_t plain(Duration value) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(value).count());
}

/// One measured value with its thresholds, in the unit of the performance data.
struct Measure {
  std::string name;  ///< of the performance data
  std::string text;  ///< for people
  std::string unit;
  std::uint64_t value{0};
  std::uint64_t warn{0};
  std::uint64_t crit{0};
  Level level{Level::ok};

  [[nodiscard]] std::string perfdata() const {
    const auto limit = [](std::uint64_t threshold) {
      return threshold == 0 ? std::string{} : std::to_string(threshold);
    };
    return name + "=" + std::to_string(value) + unit + ";" + limit(warn) + ";" + limit(crit) + ";0";
  }
};

template <class Value>
Measure measure(std::string name, std::string text, std::string unit, Value value, const Thresholds<Value>& limits) {
  Measure result{std::move(name), std::move(text),    std::move(unit),
                 plain(value),    plain(limits.warn), plain(limits.crit)};
  if (limits.crit > Value{} && value >= limits.crit)
    result.level = Level::critical;
  else if (limits.warn > Value{} && value >= limits.warn)
    result.level = Level::warning;
  return result;
}

std::vector<Measure> ask(const CheckOptions& options, const Session& session) {
  const auto repository = session.open(OpenMode::read_only);
  const Backlog backlog = repository->backlog();
  const Stats stats = repository->stats({});
  const Duration age = backlog.oldest ? age_of(*backlog.oldest, repository->now()) : Duration{0};
  const auto depth = static_cast<std::size_t>(backlog.depth());
  const auto dead = static_cast<std::size_t>(stats.dead);
  return {measure("backlog", "backlog " + std::to_string(depth), "", depth, options.backlog),
          measure("oldest", "oldest " + format_age(age), "s", age, options.age),
          measure("dead", "dead " + std::to_string(dead), "", dead, options.dead)};
}

void print_plugin_line(const std::vector<Measure>& measures, Level level) {
  std::string text;
  std::string perfdata;
  for (const Measure& m : measures) {
    text += (text.empty() ? "" : ", ") + m.text;
    if (m.level != Level::ok) text += " (" + std::string{kLevelNames[static_cast<int>(m.level)]} + ")";
    perfdata += (perfdata.empty() ? "" : " ") + m.perfdata();
  }
  print_line("WAYBILL " + std::string{kLevelNames[static_cast<int>(level)]} + " - " + text + " | " + perfdata);
}

void print_json(const std::vector<Measure>& measures, Level level) {
  nlohmann::ordered_json object{{"state", kLevelNames[static_cast<int>(level)]}};
  for (const Measure& m : measures)
    object[m.name] = {
        {"value", m.value}, {"warn", m.warn}, {"crit", m.crit}, {"state", kLevelNames[static_cast<int>(m.level)]}};
  print_line(object.dump());
}

int run(const CheckOptions& options, const Session& session) {
  const auto measures = ask(options, session);
  Level level = Level::ok;
  for (const Measure& m : measures) level = std::max(level, m.level);
  session.common.json ? print_json(measures, level) : print_plugin_line(measures, level);
  return static_cast<int>(level);
}

}  // namespace

Action define_check(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CheckOptions>();
  add_count(app, "--backlog-warn", options->backlog.warn, "events not finished: warning from here on");
  add_count(app, "--backlog-crit", options->backlog.crit, "critical from here on");
  add_duration(app, "--age-warn", options->age.warn, "age of the oldest unfinished event: warning from here on");
  add_duration(app, "--age-crit", options->age.crit, "critical from here on");
  add_count(app, "--dead-warn", options->dead.warn, "dead events: warning from here on");
  add_count(app, "--dead-crit", options->dead.crit, "critical from here on");
  app.footer(kExamples);
  return [options, &session] { return run(*options, session); };
}

}  // namespace waybill::cli
