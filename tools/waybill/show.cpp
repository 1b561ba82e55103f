// `waybill show`: one event, and what happens to it next.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"
#include "waybill/codec.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples = R"(Exit status: 1 when there is no such event.

Examples:
  waybill show --store sqlite:events.db ORDER-4711-PAID
  waybill show --store sqlite:events.db ORDER-4711-PAID --payload
  waybill show --store sqlite:events.db ORDER-4711-PAID --json | jq .fail_reason)";

struct ShowOptions {
  std::string event_no;
  bool payload{false};
};

std::string times(std::int32_t count) { return std::to_string(count) + (count == 1 ? " time" : " times"); }

std::string in_progress_sentence(const Event& event, Timestamp now) {
  const std::string owner = event.locked_by.value_or("?");
  if (!event.lock_until.has_value() || *event.lock_until > now)
    return "in progress: " + owner + " is delivering it and holds it until " +
           (event.lock_until ? format_time(*event.lock_until) : "an unknown time");
  return "in progress, but the lease of " + owner + " ran out at " + format_time(*event.lock_until) +
         ": the next relay takes it back, which counts as a failure, and tries again";
}

std::string failed_sentence(const Event& event, Timestamp now, const std::string& store) {
  const std::string count = std::to_string(event.retry_count) + " of " + times(event.max_retry_count);
  if (!is_dead(event)) {
    return "failed " + count + ", next attempt at " + format_time(*event.next_retry_time) +
           (is_due(event, now) ? " (due now)" : "");
  }
  const std::string why = event.retry_count >= event.max_retry_count
                              ? "failed " + count + ", the budget is used up"
                              : "the destination refused it for good (failed " + count + ")";
  return "dead: " + why + "; `waybill retry --store " + store + " " + event.event_no +
         "` gives it a fresh start, `waybill cancel` gives it up";
}

/// Where the event is and what happens next.
std::string whereabouts(const Event& event, Timestamp now, const std::string& store) {
  const std::string archived = event.archived ? "; moved to the archive" : "";
  switch (event.publish_status) {
    case Status::pending:
      if (!is_due(event, now)) return "pending: not due before " + format_time(*event.next_retry_time);
      return "pending: due now, the next relay with a route for " + event.publish_channel + ":" +
             event.topic.value_or("") + " takes it";
    case Status::in_progress:
      return in_progress_sentence(event, now);
    case Status::succeeded:
      return "succeeded: delivered at " + (event.published_time ? format_time(*event.published_time) : "?") +
             (event.retry_count > 0 ? " after it had failed " + times(event.retry_count) : "") + archived;
    case Status::failed:
      return failed_sentence(event, now, store);
    case Status::cancelled:
      break;
  }
  return "cancelled: never delivered from here on" + archived;
}

void print_field(std::string_view name, const nlohmann::ordered_json& value) {
  if (value.is_null()) return;
  std::string padded{name};
  padded.resize(std::max<std::size_t>(padded.size(), 18), ' ');
  print_line(padded + safe_text(value.is_string() ? value.get<std::string>() : value.dump()));
}

int run(const ShowOptions& options, const Session& session) {
  const auto repository = session.open(OpenMode::read_only);
  const auto event = repository->find(options.event_no);
  if (!event) {
    std::fprintf(stderr, "waybill show: no event '%s' in %s\n", safe_text(options.event_no).c_str(),
                 session.store_name().c_str());
    return kFailed;
  }
  if (session.common.json) {
    print_line(to_json(*event));
    return kDone;
  }
  // The codec names the columns; one place knows them all.
  const auto columns = nlohmann::ordered_json::parse(to_json(*event, false));
  for (const auto& [name, value] : columns.items()) print_field(name, value);
  if (options.payload)
    print_field("event_payload", to_payload_line(*event));
  else
    print_field("event_payload", counted(event->event_payload.size(), "byte") + ", --payload shows it");
  print_line("\n" + safe_text(whereabouts(*event, repository->now(), session.store_name())));
  return kDone;
}

}  // namespace

Action define_show(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ShowOptions>();
  app.add_option("EVENT_NO", options->event_no, "the event's number")->required();
  app.add_flag("--payload", options->payload, "the payload too");
  app.footer(kExamples);
  return [options, &session] { return run(*options, session); };
}

}  // namespace waybill::cli
