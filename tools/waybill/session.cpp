#include "session.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace waybill::cli {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

Session::Session() {
  register_builtin_backends(stores);
  register_builtin_transports(transports);
}

void Session::add_common_options(CLI::App& app) {
  const std::string group = "Common options";
  app.add_option("--store", common.store, "the store: sqlite:PATH, mysql://USER@HOST/DATABASE (see `waybill urls`)")
      ->type_name("URL")
      ->group(group);
  app.add_option("--config", common.config, "TOML file that may say all that flags say; flags win")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--json", common.json, "results as JSON")->group(group);
  app.add_flag("--quiet", common.quiet, "no summary, no progress, only warnings and errors in the log")->group(group);
  app.add_option("--log-level", common.log_level, "info, warning, error or off")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"info", "warning", "error", "off"}))
      ->capture_default_str()
      ->group(group);
}

Url Session::store_url() const {
  if (common.store.empty())
    throw ConfigError(
        "no store given: say --store URL, such as --store sqlite:events.db, or store = \"…\" in --config");
  return Url::parse(common.store);
}

std::unique_ptr<IEventRepository> Session::open(OpenMode mode) const { return open(store_url(), mode); }

std::unique_ptr<IEventRepository> Session::open(const Url& url, OpenMode mode) const {
  OpenContext context;
  context.mode = mode;
  context.log = log();
  context.table = common.table;
  return stores.open(url.to_string(), context);
}

std::string Session::store_name() const { return redact_url(common.store); }

LogSink Session::log() const {
  auto logger = std::make_shared<spdlog::logger>("waybill", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto level = spdlog::level::from_str(common.log_level);
  if (common.quiet) level = std::max(level, spdlog::level::warn);
  logger->set_level(level);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::info);
  return [logger](LogLevel line_level, std::string_view line) { logger->log(spdlog_level(line_level), "{}", line); };
}

void Session::tell(const std::string& line) const {
  if (!common.quiet) std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace waybill::cli
