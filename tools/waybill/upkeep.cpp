// `waybill archive` and `waybill purge`: finished events leave the main table in bounded batches.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "arguments.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kArchiveExamples =
    R"(Succeeded and cancelled events last changed before the time given move to the archive table. `show` still finds
them and their numbers stay taken.

Examples:
  waybill archive --store sqlite:events.db --older-than 7d
  waybill archive --store sqlite:events.db --before 2026-11-01T00:00:00Z --batch 500 --pause 50ms)";

constexpr const char* kPurgeExamples =
    R"(Succeeded and cancelled events last changed before the time given are removed for good, archived or not.
Unfinished and failed events are never removed. A removed number is free: putting it again delivers it again.

Examples:
  waybill purge --store sqlite:events.db --older-than 30d
  waybill purge --store sqlite:events.db --before 2026-11-01T00:00:00Z)";

struct UpkeepOptions {
  Duration older_than{0};
  std::string before;
  std::size_t batch{1000};
  Duration pause{0};
  bool older_than_given{false};
};

struct Upkeep {
  const char* verb;
  const char* done;
  std::size_t (IEventUpkeep::*work)(Timestamp before, std::size_t limit);
};

constexpr Upkeep kArchive{"archive", "archived", &IEventUpkeep::archive};
constexpr Upkeep kPurge{"purge", "purged", &IEventUpkeep::purge};

int run(const Upkeep& upkeep, const UpkeepOptions& options, const Session& session) {
  if (options.older_than_given == !options.before.empty())
    throw ConfigError(
        std::string{"from when on? Say either --older-than DURATION (such as --older-than 7d) or --before "
                    "TIME"});
  const auto repository = session.open(OpenMode::read_write);
  const std::string text = options.before.empty() ? format_duration(options.older_than) : options.before;
  const Timestamp before = resolve_time(text, repository->now());
  const bool progress = ::isatty(STDERR_FILENO) == 1 && !session.common.quiet;
  std::size_t total = 0;
  while (const std::size_t count = ((*repository).*upkeep.work)(before, options.batch)) {
    total += count;
    if (progress) std::fprintf(stderr, "\r%s: %zu %s\x1b[K\r", upkeep.verb, total, upkeep.done);
    if (options.pause > Duration{0}) std::this_thread::sleep_for(options.pause);  // leaves room for the relays
  }
  if (session.common.json)
    print_line(nlohmann::ordered_json{{upkeep.done, total}, {"before", format_time(before)}}.dump());
  else
    print_line(counted(total, "event") + " " + upkeep.done);
  return kDone;
}

Action define(CLI::App& app, Session& session, const Upkeep& upkeep, const char* examples) {
  const auto options = std::make_shared<UpkeepOptions>();
  CLI::Option* older_than =
      add_duration(app, "--older-than", options->older_than, "last changed longer ago than this")->default_str("");
  add_time(app, "--before", options->before, "last changed before this time");
  add_count(app, "--batch", options->batch, "events in one transaction", {1, 100000});
  add_duration(app, "--pause", options->pause, "rest between two transactions", {Duration{0}, std::chrono::hours{1}});
  app.footer(examples);
  return [options, older_than, &session, &upkeep] {
    options->older_than_given = older_than->count() > 0;
    return run(upkeep, *options, session);
  };
}

}  // namespace

Action define_archive(CLI::App& app, Session& session) { return define(app, session, kArchive, kArchiveExamples); }

Action define_purge(CLI::App& app, Session& session) { return define(app, session, kPurge, kPurgeExamples); }

}  // namespace waybill::cli
