// `waybill stats`: how many events are where.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "daily.hpp"
#include "routes.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples =
    R"(Words: backlog is pending, in progress and failed events that will be tried again. Dead events are failed ones
that nobody tries again by itself. Unroutable are unfinished events no route takes: the routes are those of --to, else
those of the relay that ran last on this store. Archived, purged, dropped and unroutable are of the whole store,
whatever the filter.

With --daily: events by the day they were created (UTC), as of the last `waybill rollup`, archived and purged ones
included; --since and --until stand for whole days, the last one excluded unless it has begun.

Examples:
  waybill stats --store sqlite:events.db
  waybill stats --store sqlite:events.db --json | jq .by_status.succeeded
  waybill stats --store sqlite:events.db --type ORDER_PAID --since 24h
  waybill stats --store sqlite:events.db --daily --since 7d)";

struct StatsOptions {
  std::string type;
  std::string topic;
  std::string since;
  std::string until;
  std::vector<std::string> to;
  bool daily{false};
};

struct Answer {
  Stats stats;
  std::uint64_t backlog{0};
  std::optional<Duration> oldest_pending;
  std::optional<std::uint64_t> unroutable;  ///< nullopt: no routes are known
};

Answer ask(const StatsOptions& options, const Session& session) {
  const auto routes = parse_routes(options.to, session.transports);
  const auto repository = session.open(OpenMode::read_only);
  const Timestamp now = repository->now();
  StatsRequest request;
  if (!options.type.empty()) request.event_type = options.type;
  if (!options.topic.empty()) request.topic = options.topic;
  if (!options.since.empty()) request.created_from = resolve_time(options.since, now);
  if (!options.until.empty()) request.created_until = resolve_time(options.until, now);
  Answer answer;
  answer.stats = repository->stats(request);
  const Stats& stats = answer.stats;
  answer.backlog = stats.of(Status::pending) + stats.of(Status::in_progress) + stats.of(Status::failed) - stats.dead;
  if (stats.oldest_pending) answer.oldest_pending = age_of(*stats.oldest_pending, now);
  const auto filter = routes.empty() ? saved_routes(*repository) : std::optional<RouteFilter>{filter_of(routes)};
  if (filter) answer.unroutable = count_unroutable(*repository, *filter);
  return answer;
}

void print_json(const Answer& answer) {
  using Json = nlohmann::ordered_json;
  Json by_status;
  for (const Status status : kAllStatuses) by_status[std::string{to_string(status)}] = answer.stats.of(status);
  Json object;
  object["by_status"] = std::move(by_status);
  object["dead"] = answer.stats.dead;
  object["backlog"] = answer.backlog;
  object["oldest_pending_age_s"] =
      answer.oldest_pending ? Json(std::chrono::duration_cast<std::chrono::seconds>(*answer.oldest_pending).count())
                            : Json(nullptr);
  object["unroutable"] = answer.unroutable ? Json(*answer.unroutable) : Json(nullptr);
  object["archived"] = answer.stats.archived;
  object["purged"] = answer.stats.purged;
  object["dropped"] = answer.stats.dropped;
  print_line(object.dump());
}

void print_table(const Answer& answer) {
  Table table{{{"", 0}, {"EVENTS", 0, true}, {"", 0}}};
  const auto row = [&table](std::string_view name, std::uint64_t count, std::string remark = {}) {
    table.add({std::string{name}, std::to_string(count), std::move(remark)});
  };
  for (const Status status : kAllStatuses) {
    std::string remark;
    if (status == Status::pending && answer.oldest_pending)
      remark = "oldest " + format_age(*answer.oldest_pending) + " ago";
    if (status == Status::failed && answer.stats.dead > 0) remark = std::to_string(answer.stats.dead) + " of them dead";
    row(to_string(status), answer.stats.of(status), remark);
  }
  row("backlog", answer.backlog);
  if (answer.unroutable)
    row("unroutable", *answer.unroutable, *answer.unroutable > 0 ? "no route takes them" : "");
  else
    table.add({"unroutable", "?", "no relay has run yet; --to says the routes"});
  row("archived", answer.stats.archived);
  row("purged", answer.stats.purged);
  row("dropped", answer.stats.dropped, answer.stats.dropped > 0 ? "undelivered, the buffer was full" : "");
  table.print();
}

void print_daily(const StatsOptions& options, const Session& session) {
  if (!options.topic.empty() || !options.to.empty())
    throw ConfigError("--daily counts by day, type and status: it goes without --topic and --to");
  const auto repository = session.open(OpenMode::read_only);
  const Timestamp now = repository->now();
  DailyStatsRequest request;
  if (!options.type.empty()) request.event_type = options.type;
  if (!options.since.empty()) request.from = day_of(resolve_time(options.since, now));
  if (!options.until.empty()) request.until = std::chrono::ceil<std::chrono::days>(resolve_time(options.until, now));
  print_days(repository->daily_stats(request), session);
}

}  // namespace

Action define_stats(CLI::App& app, Session& session) {
  const auto options = std::make_shared<StatsOptions>();
  app.add_option("--type", options->type, "only this event type")->type_name("TYPE");
  app.add_option("--topic", options->topic, "only this topic")->type_name("TOPIC");
  add_time(app, "--since", options->since, "only events created at or after this");
  add_time(app, "--until", options->until, "only events created before this");
  add_list(app, "--to", options->to, "routes as `relay` takes them, for the number of unroutable events")
      ->type_name("[PATTERN=]URL");
  app.add_flag("--daily", options->daily, "by day, as of the last rollup");
  app.footer(kExamples);
  return [options, &session] {
    if (options->daily) {
      print_daily(*options, session);
      return static_cast<int>(kDone);
    }
    const Answer answer = ask(*options, session);
    session.common.json ? print_json(answer) : print_table(answer);
    return static_cast<int>(kDone);
  };
}

}  // namespace waybill::cli
