// `waybill list`: the events that match, a page at a time.

#include <CLI/CLI.hpp>
#include <algorithm>

#include "arguments.hpp"
#include "filter.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"
#include "waybill/codec.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples =
    R"(Output: a table in UTC, or with --json one object a line with all columns, ids as strings.

Examples:
  waybill list --store sqlite:events.db --status failed --newest
  waybill list --store sqlite:events.db --aggregate ORDER/4711
  waybill list --store sqlite:events.db --status dead --limit 0 --json > dead.ndjson
  waybill list --store sqlite:events.db --status pending --older-than 5m)";

constexpr std::size_t kPageRows = 500;

struct ListOptions {
  FilterOptions filter;
  std::size_t limit{100};
  std::string after;
  bool newest{false};
  bool no_payload{false};
};

std::string status_text(const Event& event) {
  std::string text{to_string(event.publish_status)};
  if (is_dead(event)) text += " (dead)";
  return text;
}

class Lister {
 public:
  Lister(const ListOptions& options, const Session& session) : options_(options), session_(session) {}

  int run() {
    const auto repository = session_.open(OpenMode::read_only);
    const EventFilter filter = options_.filter.filter(repository->now());
    Page page;
    page.newest_first = options_.newest;
    if (!options_.after.empty()) page.after_id = std::stoll(options_.after);
    std::size_t left = options_.limit == 0 ? SIZE_MAX : options_.limit;
    bool more = true;
    while (left > 0 && more) {
      page.limit = std::min(kPageRows, left);
      const std::vector<Event> events = repository->query(filter, page);
      more = events.size() == page.limit;
      if (events.empty()) break;
      show(events);
      left -= events.size();
      page.after_id = events.back().id;
    }
    if (!session_.common.json) table_.print();
    if (more && left == 0)
      session_.tell("list: there may be more: --after " + std::to_string(*page.after_id) + " shows the next ones");
    return kDone;
  }

 private:
  void show(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (session_.common.json)
        print_line(to_json(event, !options_.no_payload));
      else
        table_.add({std::to_string(event.id), event.event_no, status_text(event), std::to_string(event.retry_count),
                    event.event_type, event.aggregate_type + "/" + event.aggregate_id,
                    event.publish_channel + ":" + event.topic.value_or(""), format_short(event.create_time),
                    event.fail_reason.value_or("")});
    }
    if (!session_.common.json) table_.print();
  }

  const ListOptions& options_;
  const Session& session_;
  Table table_{{{"ID", 0, true},
                {"EVENT NO", 40},
                {"STATUS", 0},
                {"FAILED", 0, true},
                {"TYPE", 30},
                {"AGGREGATE", 40},
                {"DESTINATION", 30},
                {"CREATED", 0},
                {"REASON", 50}}};
};

std::string check_id(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "'" + text + "' is no id of an event";
}

}  // namespace

Action define_list(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ListOptions>();
  add_filter_options(app, options->filter);
  add_count(app, "--limit", options->limit, "at most so many events; 0: all of them");
  app.add_option("--after", options->after, "go on behind the event with this id")->type_name("ID")->check(check_id);
  app.add_flag("--newest", options->newest, "newest first");
  app.add_flag("--no-payload", options->no_payload, "with --json: leave event_payload out");
  app.footer(kExamples);
  return [options, &session] { return Lister{*options, session}.run(); };
}

}  // namespace waybill::cli
