#pragma once
// A verb of the command: its name, what it says about itself, how it declares its options. One table in main.cpp.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace waybill::cli {

class Session;

/// Exit statuses of every verb but `check`, which has those of monitoring plug-ins.
enum Exit : int { kDone = 0, kFailed = 1, kUsage = 2, kNotAccepted = 3 };

/// What the verb does once its options are read; returns the exit status.
using Action = std::function<int()>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  Action (*define)(CLI::App& app, Session& session);  ///< adds the verb's options; they live as long as the action
  std::string_view also_table{};                      ///< a second table of the configuration file it reads
  bool monitoring{false};                             ///< every error is status 3, told on standard output
};

Action define_init(CLI::App& app, Session& session);
Action define_put(CLI::App& app, Session& session);
Action define_relay(CLI::App& app, Session& session);
Action define_work(CLI::App& app, Session& session);
Action define_list(CLI::App& app, Session& session);
Action define_show(CLI::App& app, Session& session);
Action define_stats(CLI::App& app, Session& session);
Action define_retry(CLI::App& app, Session& session);
Action define_cancel(CLI::App& app, Session& session);
Action define_archive(CLI::App& app, Session& session);
Action define_purge(CLI::App& app, Session& session);
Action define_rollup(CLI::App& app, Session& session);
Action define_check(CLI::App& app, Session& session);
Action define_doctor(CLI::App& app, Session& session);
Action define_bench(CLI::App& app, Session& session);
Action define_urls(CLI::App& app, Session& session);

}  // namespace waybill::cli
