// `waybill VERB …`: finds the verb, reads its options from command line and file, turns errors into exit statuses.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "config_file.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"
#include "waybill/options.hpp"

namespace waybill::cli {
namespace {

constexpr std::array<Verb, 16> kVerbs{{
    {"init", "creates the tables, or brings them up to date", define_init},
    {"put", "puts events in, one JSON object a line", define_put},
    {"relay", "delivers events to their destinations", define_relay},
    {"work", "runs a program for each message of biz_message_event", define_work},
    {"list", "lists events by status, topic, type, aggregate, age", define_list},
    {"show", "shows one event, and what happens to it next", define_show},
    {"stats", "counts events by status, or by day", define_stats, "relay"},
    {"retry", "gives failed events a fresh start", define_retry},
    {"cancel", "gives events up for good", define_cancel},
    {"archive", "moves old finished events to the archive table", define_archive},
    {"purge", "removes old finished events", define_purge},
    {"rollup", "brings the daily counts up to date", define_rollup},
    {"check", "backlog, age and dead events against thresholds, for monitoring", define_check, {}, true},
    {"doctor", "looks for what is wrong with a store", define_doctor},
    {"bench", "measures a store on this machine", define_bench},
    {"urls", "lists the stores and transports of this build with their options", define_urls},
}};

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == kVerbs.end() ? nullptr : &*found;
}

void print_overview() {
  print_line("waybill: transactional outbox and event delivery\n\nUsage: waybill VERB [OPTIONS]\n");
  for (const Verb& verb : kVerbs) {
    std::string name{verb.name};
    name.resize(10, ' ');
    print_line("  " + name + std::string{verb.summary});
  }
  print_line(R"(
  waybill VERB --help tells more and has examples; waybill --version.

Durations are written 250ms, 2s, 5m, 12h, 30d; times like 2026-11-30T17:38:00Z. Results go to standard output,
everything else to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage, 3 some events not accepted (check: 0 to 3 as monitoring plug-ins).

Example:
  waybill init  --store sqlite:events.db
  waybill put   --store sqlite:events.db events.ndjson
  waybill relay --store sqlite:events.db --to stdout: --drain
  waybill stats --store sqlite:events.db)");
  finish_output();
}

/// A file opened on a free descriptor 0, 1 or 2 would get what is meant for standard output, the store's file above
/// all. What takes their place here refuses what they would be used for.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      throw std::runtime_error("can't open /dev/null");
}

/// An error told in the verb's way; returns the exit status.
int fail(const Verb& verb, int status, const std::string& message) {
  if (verb.monitoring) {
    print_line("WAYBILL UNKNOWN - " + safe_text(message));
    std::fflush(stdout);
    return 3;
  }
  std::fprintf(stderr, "waybill %s: %s\n", std::string{verb.name}.c_str(), message.c_str());
  return status;
}

std::string advice_for(const StorageError& error, const Session& session) {
  switch (error.code()) {
    case ErrorCode::schema:
      // A newer schema, say, wants something else; the message says what.
      if (std::string_view(error.what()).find("`waybill init`") == std::string_view::npos) break;
      return "\n  run: waybill init --store " + session.store_name();
    case ErrorCode::busy:
      return "\n  somebody else holds the lock; try again (on SQLite a longer busy_timeout in the URL helps)";
    case ErrorCode::outcome_unknown:
      return "\n  whether it was done is not known; look before doing it again";
    case ErrorCode::full:
      return "\n  make room (waybill archive, waybill purge, the disk itself) and try again";
    case ErrorCode::corrupt:
      return "\n  run: waybill doctor --store " + session.store_name();
    case ErrorCode::unavailable:
    case ErrorCode::denied:
    case ErrorCode::invalid:
      break;
  }
  return {};
}

/// What CLI11 did not know, said with the nearest name.
std::string describe_extras(const CLI::App& app) {
  const auto extras = app.remaining();
  if (extras.empty()) return "unexpected arguments";
  const auto flag = std::find_if(extras.begin(), extras.end(), [](const std::string& e) { return e.starts_with("-"); });
  if (flag == extras.end()) return "unexpected argument '" + extras.front() + "'";
  const std::string name = flag->substr(0, flag->find('='));
  const std::string near =
      nearest_name(name.substr(std::min(name.find_first_not_of('-'), name.size())), option_names(app));
  return "unknown flag '" + name + "'" + (near.empty() ? "; see --help" : "; did you mean '--" + near + "'?");
}

std::unique_ptr<CLI::App> make_app(const Verb& verb, Session& session, Action& action) {
  const std::string name = "waybill " + std::string{verb.name};
  auto app = std::make_unique<CLI::App>(name + ": " + std::string{verb.summary}, name);
  app->get_formatter()->column_width(28);
  action = verb.define(*app, session);
  session.add_common_options(*app);
  app->set_help_flag("-h,--help", "this text")->group("Common options");  // last: groups come in the order of use
  return app;
}

std::vector<VerbNames> all_option_names() {
  std::vector<VerbNames> names;
  for (const Verb& verb : kVerbs) {
    Session scratch;
    Action action;
    names.push_back({verb.name, option_names(*make_app(verb, scratch, action))});
  }
  return names;
}

/// Reads the options; nullopt: go on, else the exit status.
std::optional<int> read_options(const Verb& verb, Session& session, CLI::App& app, std::vector<std::string> arguments) {
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(std::move(arguments));
    if (!session.common.config.empty())
      session.common.table = apply_config(session.common.config, verb, all_option_names(), app);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    finish_output();
    return kDone;
  } catch (const CLI::ExtrasError&) {
    return fail(verb, kUsage, describe_extras(app));
  } catch (const CLI::ParseError& error) {
    return fail(verb, kUsage, std::string{error.what()} + "; see waybill " + std::string{verb.name} + " --help");
  } catch (const ConfigError& error) {
    return fail(verb, kUsage, error.what());
  }
}

int run_verb(const Verb& verb, std::vector<std::string> arguments) {
  Session session;
  Action action;
  const auto app = make_app(verb, session, action);
  if (const auto status = read_options(verb, session, *app, std::move(arguments))) return *status;
  try {
    const int status = action();
    finish_output();
    return status;
  } catch (const ConfigError& error) {
    return fail(verb, kUsage, error.what());
  } catch (const StorageError& error) {
    return fail(verb, kFailed, error.what() + (verb.monitoring ? std::string{} : advice_for(error, session)));
  } catch (const std::exception& error) {
    return fail(verb, kFailed, error.what());
  }
}

int unknown_verb(const std::string& name) {
  const std::string near = nearest_name(name, verb_names());
  std::string advice = near.empty() ? "`waybill help` lists them" : "did you mean '" + near + "'?";
  if (name.starts_with("-")) advice = "flags stand behind the verb, as in: waybill stats --store sqlite:events.db";
  std::fprintf(stderr, "waybill: no verb '%s'; %s\n", name.c_str(), advice.c_str());
  return kUsage;
}

int run(const std::vector<std::string>& arguments) {
  occupy_standard_descriptors();
  if (arguments.empty()) {
    print_overview();
    return kUsage;
  }
  const std::string& name = arguments.front();
  if (name == "--version") {
    print_line("waybill " WAYBILL_VERSION);
    finish_output();
    return kDone;
  }
  const bool help = name == "help" || name == "--help" || name == "-h";
  if (help && arguments.size() == 1) {
    print_overview();
    return kDone;
  }
  const std::string& wanted = help ? arguments[1] : name;
  const Verb* verb = find_verb(wanted);
  if (verb == nullptr) return unknown_verb(wanted);
  return run_verb(*verb, help ? std::vector<std::string>{"--help"}
                              : std::vector<std::string>{arguments.begin() + 1, arguments.end()});
}

}  // namespace

}  // namespace waybill::cli

int main(int argc, char** argv) {
  try {
    return waybill::cli::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "waybill: %s\n", error.what());
    return waybill::cli::kFailed;
  }
}
