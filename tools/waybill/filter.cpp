#include "filter.hpp"

#include <algorithm>
#include <array>

#include "arguments.hpp"

namespace waybill::cli {
namespace {

/// Not statuses of the table, but questions people ask as if they were.
constexpr std::array<const char*, 3> kConditions{"dead", "due", "expired"};

std::vector<std::string> status_names() {
  std::vector<std::string> names;
  for (const Status status : kAllStatuses) names.emplace_back(to_string(status));
  names.insert(names.end(), kConditions.begin(), kConditions.end());
  return names;
}

void apply_statuses(const std::vector<std::string>& names, EventFilter& filter) {
  for (const std::string& name : names) {
    if (const auto status = parse_status(name)) {
      filter.statuses.push_back(*status);
      continue;
    }
    if (names.size() > 1)
      throw ConfigError("--status " + name + " stands alone: it can't be combined with another --status");
    if (name == "dead") filter.dead = true;
    if (name == "due") filter.due = true;
    if (name == "expired") filter.lease_expired = true;
  }
}

/// `--topic "$UNSET"` must not widen a `cancel` to every topic.
std::string not_empty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>{text};
}

}  // namespace

bool FilterOptions::any() const {
  const bool texts = !statuses.empty() || !event_no.empty() || !topic.empty() || !type.empty() || !channel.empty() ||
                     !aggregate.empty() || !trace.empty() || !since.empty() || !until.empty();
  return texts || older_than > Duration{0} || min_retries > 0;
}

EventFilter FilterOptions::filter(Timestamp now) const {
  EventFilter filter;
  apply_statuses(statuses, filter);
  filter.event_no = given(event_no);
  filter.topic = given(topic);
  filter.event_type = given(type);
  filter.publish_channel = given(channel);
  filter.trace_id = given(trace);
  if (!aggregate.empty()) {
    const auto slash = aggregate.find('/');
    filter.aggregate_type = aggregate.substr(0, slash);
    if (slash != std::string::npos) filter.aggregate_id = aggregate.substr(slash + 1);
  }
  if (!since.empty()) filter.created_from = resolve_time(since, now);
  if (!until.empty()) filter.created_until = resolve_time(until, now);
  if (older_than > Duration{0}) {
    const Timestamp limit = resolve_time(format_duration(older_than), now);
    filter.created_until = std::min(limit, filter.created_until.value_or(limit));
  }
  if (min_retries > 0) filter.min_retry_count = static_cast<std::int32_t>(min_retries);
  return filter;
}

void add_filter_options(CLI::App& app, FilterOptions& options) {
  const std::string group = "Which events (all conditions must hold)";
  const auto text = [&](const char* name, std::string& target, const char* type, const char* help) {
    app.add_option(name, target, help)->type_name(type)->check(not_empty)->group(group);
  };
  add_list(app, "--status", options.statuses,
           "pending, in_progress, succeeded, failed, cancelled (repeat for more), or one of: dead, due, expired")
      ->type_name("STATUS")
      ->check(CLI::IsMember(status_names()))
      ->group(group);
  text("--event-no", options.event_no, "NUMBER", "the event with this number");
  text("--topic", options.topic, "TOPIC", "this topic");
  text("--type", options.type, "TYPE", "this event type");
  text("--channel", options.channel, "CHANNEL", "this publish channel");
  text("--aggregate", options.aggregate, "TYPE[/ID]", "this aggregate type, or this very aggregate");
  text("--trace", options.trace, "ID", "this trace id");
  add_time(app, "--since", options.since, "created at or after: 2026-11-30T17:38:00Z, or 2h for two hours ago")
      ->group(group);
  add_time(app, "--until", options.until, "created before")->group(group);
  add_duration(app, "--older-than", options.older_than, "created longer ago than this; 0s: any age")->group(group);
  add_count(app, "--min-retries", options.min_retries, "failed at least so many times", {0, 1000000})->group(group);
}

}  // namespace waybill::cli
