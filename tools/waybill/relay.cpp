// `waybill relay`: delivers.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "arguments.hpp"
#include "routes.hpp"
#include "session.hpp"
#include "text.hpp"
#include "unroutable_watch.hpp"
#include "verb.hpp"
#include "waybill/relay_runner.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples =
    R"(--to URL delivers every event there; --to PATTERN=URL those whose topic matches ('order.*', with * and ?), or
whose channel and topic match ('MQ:order.*', 'HTTP:*'). The first match wins. Events without a route stay in the store.

--retry POLICY is a list of delays, the last one repeats (1m,5m,30m,2h), or exponential:BASE,FACTOR,CAP
(exponential:1s,2,1h); either may end in ;jitter=0.2.

Signals: SIGINT and SIGTERM stop claiming, let deliveries end within --shutdown-deadline and give back the rest; no
attempt is counted. With --json the summary is one JSON object on standard error: standard output may carry events.

Exit status: 0 stopped by a signal, or drained; 1 a destination was down at the end of a --drain or is gone for good
(its reader ended, say). Whatever was not delivered is kept, also when a delivery did not end in time.

Examples:
  waybill relay --store sqlite:events.db --to stdout:
  waybill relay --store sqlite:events.db --to stdout: --order aggregate --drain > out.ndjson
  waybill relay --store sqlite:events.db --to 'order.*=stdout:?format=payload' --retry exponential:1s,2,1h
  waybill relay --config waybill.toml)";

constexpr const char* kWorkExamples =
    R"(Runs PROGRAM once for each message of biz_message_event (or of the table that the store's URL or [table] in
--config names), with the event as one line of JSON on its standard input and WAYBILL_EVENT_NO, WAYBILL_EVENT_TYPE,
WAYBILL_AGGREGATE_TYPE, WAYBILL_AGGREGATE_ID and WAYBILL_ATTEMPT in its environment. PROGRAM is split at blanks; there
is no shell.

The program's exit status: 0 done; 75, a signal or the time limit: tried again; any other as --other says. The end of
what it wrote is kept as the reason.

Examples:
  waybill work --store sqlite:jobs.db --exec ./handle-order
  waybill work --store mysql://app@db.example/shop --exec 'python3 handler.py' --timeout 1m --other reject --workers 4
  waybill work --store sqlite:jobs.db --exec 'grep -q cents' --format payload --drain)";

struct RelayArguments {
  std::string verb{"relay"};
  std::vector<std::string> to;
  std::size_t batch{100};
  std::size_t workers{1};
  Duration lease{std::chrono::seconds{30}};
  Duration poll{std::chrono::seconds{1}};
  Duration recovery{std::chrono::seconds{1}};
  Duration shutdown_deadline{std::chrono::seconds{10}};
  std::string order{"none"};
  std::string dead_head{"block"};
  std::string retry{RetryPolicy{}.to_string()};
  std::string owner;
  std::vector<std::string> cancel_dead;
  std::vector<std::string> critical;
  bool drain{false};
};

/// `host:pid:random`: a restarted relay is another owner, even with the same pid.
std::string default_owner() {
  std::array<char, 65> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  std::array<char, 9> random{};
  std::snprintf(random.data(), random.size(), "%08x", std::random_device{}());
  return std::string{host.data()} + ":" + std::to_string(::getpid()) + ":" + random.data();
}

RunnerOptions runner_options(const RelayArguments& arguments) {
  RunnerOptions options;
  options.workers = static_cast<unsigned>(arguments.workers);
  options.poll = arguments.poll;
  options.shutdown_deadline = arguments.shutdown_deadline;
  options.drain = arguments.drain;
  RelayOptions& relay = options.relay;
  relay.claim.owner = arguments.owner.empty() ? default_owner() : arguments.owner;
  relay.claim.limit = arguments.batch;
  relay.claim.lease = arguments.lease;
  relay.claim.ordering = arguments.order == "aggregate" ? Ordering::aggregate : Ordering::none;
  relay.claim.dead_head = arguments.dead_head == "skip" ? DeadHead::skip : DeadHead::block;
  relay.recovery_interval = arguments.recovery;
  relay.delivery_budget = arguments.lease * 2 / 3;
  relay.cancel_dead = arguments.cancel_dead;
  relay.critical = arguments.critical;
  return options;
}

class RelayJob {
 public:
  RelayJob(const RelayArguments& arguments, const Session& session)
      : arguments_(arguments),
        session_(session),
        routes_(parse_routes(arguments.to, session.transports)),
        retry_(RetryPolicy::parse(arguments.retry)) {
    if (routes_.empty()) throw ConfigError("where to? Say --to URL, such as --to stdout:");
  }

  int run();

 private:
  [[nodiscard]] std::vector<Route> open_routes() const;
  [[nodiscard]] int report(const RunSummary& summary, IEventRepository& store) const;
  void print_json(const RunSummary& summary, std::uint64_t left) const;

  const RelayArguments& arguments_;
  const Session& session_;
  std::vector<RouteArgument> routes_;
  RetryPolicy retry_;
};

std::vector<Route> RelayJob::open_routes() const {
  OpenContext context;
  context.log = session_.log();
  std::vector<Route> routes;
  for (const RouteArgument& argument : routes_) {
    Route route;
    route.pattern = argument.pattern;
    route.name = argument.pattern.to_string() + "=" + redact_url(argument.url);
    route.transport = session_.transports.open(argument.url, context);
    route.retry = retry_;
    routes.push_back(std::move(route));
  }
  return routes;
}

void RelayJob::print_json(const RunSummary& summary, std::uint64_t left) const {
  const StepResult& total = summary.total;
  const nlohmann::ordered_json object{{"claimed", total.claimed},
                                      {"delivered", total.delivered},
                                      {"failed", total.retried + total.rejected},
                                      {"released", total.released},
                                      {"dead", total.dead},
                                      {"fenced", total.fenced},
                                      {"recovered", total.recovered},
                                      {"left", left},
                                      {"destination_down", summary.breaker_open},
                                      {"finished", summary.finished},
                                      {"store_error", summary.store_error}};
  std::fprintf(stderr, "%s\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int RelayJob::report(const RunSummary& summary, IEventRepository& store) const {
  const StepResult& total = summary.total;
  const std::uint64_t left = store.backlog().depth();
  if (session_.common.json)
    print_json(summary, left);
  else
    session_.tell("delivered " + std::to_string(total.delivered) + ", failed " +
                  std::to_string(total.retried + total.rejected) + ", dead " + std::to_string(total.dead) + ", left " +
                  std::to_string(left));
  std::string problem;
  if (!summary.finished.empty())
    problem = summary.finished + "; what was not delivered is kept";
  else if (!summary.store_error.empty())
    problem = summary.store_error;
  else if (summary.breaker_open)
    problem = "ended with a destination down; what was not delivered is kept";
  if (problem.empty()) return kDone;
  std::fprintf(stderr, "waybill %s: %s\n", arguments_.verb.c_str(), problem.c_str());
  return kFailed;
}

int RelayJob::run() {
  // A closed pipe or a file-size limit is an outcome of a delivery, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  NoTelemetry telemetry;
  RelayRunner runner{[this] { return session_.open(OpenMode::read_write); }, [this] { return open_routes(); },
                     runner_options(arguments_), telemetry, session_.log()};
  const StopOnSignals signals{[&runner](int) { runner.stop(); }};
  const auto store = session_.open(OpenMode::read_write);
  save_routes(*store, routes_);
  RunSummary summary;
  {
    const UnroutableWatch watch{session_, filter_of(routes_)};
    summary = runner.run();
  }
  warn_unroutable(*store, filter_of(routes_), session_.log());
  const int status = report(summary, *store);
  if (summary.stuck) std::quick_exit(status);  // the runner would wait for the delivery that does not end
  return status;
}

struct WorkArguments {
  RelayArguments relay;
  std::string program;
  Duration timeout{std::chrono::seconds{30}};
  std::string other{"retry"};
  std::string format{"cloudevents"};
};

/// The exec: URL of the program.
std::string exec_url(const WorkArguments& arguments) {
  if (arguments.program.empty()) throw ConfigError("which program? Say --exec PROGRAM, such as --exec ./handle-order");
  Url url;
  url.scheme = "exec";
  url.path = arguments.program;
  url.query = {
      {"timeout", format_duration(arguments.timeout)}, {"other", arguments.other}, {"format", arguments.format}};
  return url.to_string();
}

/// Messages are the table to work on unless another is named.
std::string with_message_table(const Session& session) {
  Url url = session.store_url();
  const bool named =
      std::any_of(url.query.begin(), url.query.end(), [](const auto& one) { return one.first == "table"; });
  if (!named && !session.common.table) url.query.emplace_back("table", "biz_message_event");
  return url.to_string();
}

void add_delivery_options(CLI::App& app, RelayArguments& arguments) {
  add_count(app, "--batch", arguments.batch, "events claimed at a time", {1, 10000});
  add_count(app, "--workers", arguments.workers, "threads that claim and deliver", {1, 256});
  app.add_flag("--drain", arguments.drain, "end when nothing is left to do now");
  app.add_option("--order", arguments.order, "none, or aggregate: the events of an aggregate in the order they came")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"none", "aggregate"}))
      ->capture_default_str();
  app.add_option("--dead-head", arguments.dead_head,
                 "with --order aggregate, a dead event: block those behind it, or skip")
      ->type_name("RULE")
      ->check(CLI::IsMember({"block", "skip"}))
      ->capture_default_str();
  app.add_option("--retry", arguments.retry, "when to try again")->type_name("POLICY")->capture_default_str();
  add_list(app, "--cancel-dead", arguments.cancel_dead, "dead events of these types are cancelled")->type_name("GLOB");
  add_list(app, "--critical", arguments.critical, "never those of these types, whatever --cancel-dead says")
      ->type_name("GLOB");
}

void add_timing_options(CLI::App& app, RelayArguments& arguments) {
  constexpr std::chrono::milliseconds kMillisecond{1};
  constexpr std::chrono::hours kHour{1};
  add_duration(app, "--lease", arguments.lease, "how long a claim holds; a crashed relay's events move again after it",
               {10 * kMillisecond, 24 * kHour});
  add_duration(app, "--poll", arguments.poll, "longest wait between two looks", {kMillisecond, kHour});
  add_duration(app, "--recovery", arguments.recovery, "how often leases of crashed relays are looked for",
               {Duration{0}, kHour});
  add_duration(app, "--shutdown-deadline", arguments.shutdown_deadline, "for deliveries under way when told to stop",
               {Duration{0}, kHour});
  app.add_option("--owner", arguments.owner, "this relay's name in the lease; default host:pid:random")
      ->type_name("NAME");
}

}  // namespace

Action define_relay(CLI::App& app, Session& session) {
  const auto arguments = std::make_shared<RelayArguments>();
  add_list(app, "--to", arguments->to, "where events go; repeat for more routes")->type_name("[PATTERN=]URL");
  add_delivery_options(app, *arguments);
  add_timing_options(app, *arguments);
  app.footer(kExamples);
  return [arguments, &session] { return RelayJob{*arguments, session}.run(); };
}

Action define_work(CLI::App& app, Session& session) {
  const auto arguments = std::make_shared<WorkArguments>();
  app.add_option("--exec", arguments->program, "the program that handles a message")->type_name("PROGRAM");
  add_duration(app, "--timeout", arguments->timeout, "of one run; then it and its children are killed",
               {std::chrono::milliseconds{1}, std::chrono::hours{24}});
  app.add_option("--other", arguments->other, "an exit status beside 0 and 75: retry, or reject for good")
      ->type_name("RULE")
      ->check(CLI::IsMember({"retry", "reject"}))
      ->capture_default_str();
  app.add_option("--format", arguments->format, "of the line on its standard input: cloudevents, event or payload")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"cloudevents", "event", "payload"}))
      ->capture_default_str();
  add_delivery_options(app, arguments->relay);
  add_timing_options(app, arguments->relay);
  app.footer(kWorkExamples);
  return [arguments, &session] {
    arguments->relay.verb = "work";
    arguments->relay.to = {exec_url(*arguments)};
    session.common.store = with_message_table(session);
    return RelayJob{arguments->relay, session}.run();
  };
}

}  // namespace waybill::cli
