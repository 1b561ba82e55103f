// `waybill rollup`: the counts behind `waybill stats --daily`.

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

constexpr const char* kExamples =
    R"(Counts events by the day they were created (UTC), type and status, into the table biz_event_stat. Days in which
nothing has changed are left alone, so that it may run every few minutes. Archived and purged events stay in the numbers
of their day. On SQLite the first rollup makes an index of the events' days.

Examples:
  waybill rollup --store sqlite:events.db
  waybill rollup --store sqlite:events.db && waybill stats --store sqlite:events.db --daily --since 7d
  waybill rollup --store mysql://app@db.example/shop --batch 5 --pause 50ms)";

struct RollupOptions {
  std::size_t batch{30};
  Duration pause{0};
};

int run(const RollupOptions& options, const Session& session) {
  const auto repository = session.open(OpenMode::read_write);
  const bool progress = ::isatty(STDERR_FILENO) == 1 && !session.common.quiet;
  std::size_t total = 0;
  for (bool more = true; more;) {
    const RollupResult result = repository->rollup(options.batch);
    total += result.days;
    more = result.more;
    if (progress) std::fprintf(stderr, "\rrollup: %zu days\x1b[K\r", total);
    if (more && options.pause > Duration{0}) std::this_thread::sleep_for(options.pause);  // leaves room for the relays
  }
  if (session.common.json)
    print_line(nlohmann::ordered_json{{"days", total}}.dump());
  else
    print_line(counted(total, "day") + " rolled up");
  return kDone;
}

}  // namespace

Action define_rollup(CLI::App& app, Session& session) {
  const auto options = std::make_shared<RollupOptions>();
  add_count(app, "--batch", options->batch, "days in one transaction", {1, 100000});
  add_duration(app, "--pause", options->pause, "rest between two transactions", {Duration{0}, std::chrono::hours{1}});
  app.footer(kExamples);
  return [options, &session] { return run(*options, session); };
}

}  // namespace waybill::cli
