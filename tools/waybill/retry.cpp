// `waybill retry` and `waybill cancel`: what an operator does by hand, by number or filter.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "filter.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"
#include "waybill/lifecycle.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kRetryExamples =
    R"(Failed events, dead or not, go back to pending: due now, with a fresh budget. With a filter and without numbers
every failed event that matches.

Exit status: 1 when one of the numbers is not there or not failed.

Examples:
  waybill retry --store sqlite:events.db ORDER-4711-PAID
  waybill retry --store sqlite:events.db --status dead --topic 'order.paid' --dry-run
  waybill retry --store sqlite:events.db --all)";

constexpr const char* kCancelExamples =
    R"(Pending and failed events are given up for good: nothing leaves the state cancelled. Events in progress are
not touched.

Exit status: 1 when one of the numbers is not there or can't be cancelled.

Examples:
  waybill cancel --store sqlite:events.db ORDER-4711-PAID --reason 'order was deleted'
  waybill cancel --store sqlite:events.db --status dead --older-than 30d --dry-run
  waybill cancel --store sqlite:events.db --type ORDER_PAID --aggregate ORDER/4711)";

constexpr std::size_t kQueryRows = 500;

struct ManualOptions {
  FilterOptions filter;
  std::vector<std::string> numbers;
  std::size_t batch{500};
  std::string reason{"cancelled by hand"};
  bool all{false};
  bool dry_run{false};
};

/// The two verbs differ in this.
struct Manual {
  Command command;
  const char* verb;
  const char* done;
};

constexpr Manual kRetry{Command::requeue, "retry", "requeued"};
constexpr Manual kCancel{Command::cancel, "cancel", "cancelled"};

class ManualJob {
 public:
  ManualJob(const Manual& manual, const ManualOptions& options, const Session& session)
      : manual_(manual), options_(options), session_(session) {}

  int run();

 private:
  void require_choice() const;
  [[nodiscard]] std::size_t apply_once(const EventFilter& filter, std::size_t limit);
  [[nodiscard]] bool applies(const Event& event) const { return from().contains(event.publish_status); }
  [[nodiscard]] StatusSet from() const { return transition(manual_.command).from; }
  void by_number(const std::string& number);
  void by_filter();
  [[nodiscard]] std::size_t count(EventFilter filter);
  [[nodiscard]] std::size_t upper_bound();
  void show_progress() const;

  const Manual& manual_;
  const ManualOptions& options_;
  const Session& session_;
  std::unique_ptr<IEventRepository> repository_;
  std::size_t changed_{0};
  std::size_t failed_{0};
};

void ManualJob::require_choice() const {
  if (!options_.numbers.empty() && (options_.filter.any() || options_.all))
    throw ConfigError("say either event numbers or a filter, not both");
  if (options_.numbers.empty() && !options_.filter.any() && !options_.all)
    throw ConfigError("which events? Say event numbers or a filter such as --status dead; --all for every one");
}

std::size_t ManualJob::apply_once(const EventFilter& filter, std::size_t limit) {
  return manual_.command == Command::requeue ? repository_->requeue(filter, limit)
                                             : repository_->cancel(filter, options_.reason, limit);
}

void ManualJob::by_number(const std::string& number) {
  EventFilter filter;
  filter.event_no = number;
  const auto event = repository_->find(number);
  const bool possible = event && !event->archived && applies(*event);
  if (possible && (options_.dry_run || apply_once(filter, 1) == 1)) {
    ++changed_;
    return;
  }
  ++failed_;
  const std::string why = !event            ? "there is no such event"
                          : event->archived ? "it is in the archive"
                          : possible        ? "it changed meanwhile, try again"
                                            : "it is " + std::string{to_string(event->publish_status)};
  std::fprintf(stderr, "waybill %s: %s: %s\n", manual_.verb, safe_text(number).c_str(), why.c_str());
}

/// How many events the filter would change.
std::size_t ManualJob::count(EventFilter filter) {
  std::vector<Status> statuses;
  for (const Status status : kAllStatuses) {
    const auto& asked = filter.statuses;
    const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), status) != asked.end();
    if (wanted && from().contains(status)) statuses.push_back(status);
  }
  if (statuses.empty()) return 0;
  filter.statuses = statuses;
  Page page;
  page.limit = kQueryRows;
  std::size_t total = 0;
  while (true) {
    const auto events = repository_->query(filter, page);
    total += events.size();
    if (events.size() < page.limit) return total;
    page.after_id = events.back().id;
  }
}

/// What can match at most. A relay may fail a requeued event again at once, and "repeat until none is left" would then
/// never end.
std::size_t ManualJob::upper_bound() {
  const Stats stats = repository_->stats({});
  std::size_t bound = 0;
  for (const Status status : kAllStatuses)
    if (from().contains(status)) bound += stats.of(status);
  return bound;
}

void ManualJob::by_filter() {
  const EventFilter filter = options_.filter.filter(repository_->now());
  if (options_.dry_run) {
    changed_ = count(filter);
    return;
  }
  const std::size_t bound = upper_bound();
  while (changed_ < bound) {
    const std::size_t changed = apply_once(filter, std::min(options_.batch, bound - changed_));
    if (changed == 0) break;
    changed_ += changed;
    show_progress();
  }
}

void ManualJob::show_progress() const {
  if (::isatty(STDERR_FILENO) == 1 && !session_.common.quiet)
    std::fprintf(stderr, "\r%s: %zu %s\x1b[K\r", manual_.verb, changed_, manual_.done);
}

int ManualJob::run() {
  require_choice();
  repository_ = session_.open(options_.dry_run ? OpenMode::read_only : OpenMode::read_write);
  if (options_.numbers.empty()) by_filter();
  for (const std::string& number : options_.numbers) by_number(number);
  if (session_.common.json) {
    print_line(
        nlohmann::ordered_json{{manual_.done, changed_}, {"failed", failed_}, {"dry_run", options_.dry_run}}.dump());
  } else {
    print_line(counted(changed_, "event") + (options_.dry_run ? " would be " : " ") + manual_.done);
  }
  return failed_ > 0 ? kFailed : kDone;
}

Action define(CLI::App& app, Session& session, const Manual& manual, const char* examples) {
  const auto options = std::make_shared<ManualOptions>();
  app.add_option("EVENT_NO", options->numbers, "numbers of events");
  add_filter_options(app, options->filter);
  app.add_flag("--all", options->all, "every event, when no number or filter is given");
  app.add_flag("--dry-run", options->dry_run, "only say how many");
  add_count(app, "--batch", options->batch, "events changed in one transaction", {1, 10000});
  if (manual.command == Command::cancel)
    app.add_option("--reason", options->reason, "kept with the event")->type_name("TEXT")->capture_default_str();
  app.footer(examples);
  return [options, &session, &manual] { return ManualJob{manual, *options, session}.run(); };
}

}  // namespace

Action define_retry(CLI::App& app, Session& session) { return define(app, session, kRetry, kRetryExamples); }

Action define_cancel(CLI::App& app, Session& session) { return define(app, session, kCancel, kCancelExamples); }

}  // namespace waybill::cli
