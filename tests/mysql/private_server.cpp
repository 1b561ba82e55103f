#include "mysql/private_server.hpp"

#include <map>
#include <memory>
#include <stdexcept>

#include "support/plain_client.hpp"
#include "waybill/url.hpp"

namespace waybill::test {
namespace {

/// A number as it is, anything else in quotes.
std::string as_sql(const std::string& value) {
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? value : "'" + value + "'";
}

}  // namespace

PrivateServer::PrivateServer(std::string kind) : kind_(std::move(kind)) { start(); }

PrivateServer::~PrivateServer() {
  try {
    (void)script({"kill", directory().string()});
  } catch (const std::exception&) {
    // It may be down already.
  }
}

ProcessResult PrivateServer::script(std::vector<std::string> words, const std::string& input) {
  ProcessOptions options;
  options.program = WAYBILL_MYSQL_SERVER_SCRIPT;
  options.arguments = std::move(words);
  return run_process(options, input, scratch_.path(), std::chrono::seconds{120});
}

void PrivateServer::must(std::vector<std::string> words) {
  const ProcessResult result = script(std::move(words));
  if (result.exit_code != 0) throw std::runtime_error("tools/mysql-server: " + result.err);
}

void PrivateServer::start() {
  const ProcessResult result = script({"start", kind_, directory().string()});
  if (result.exit_code != 0) throw std::runtime_error("tools/mysql-server start: " + result.err);
  administrator_ = mysql_options(Url::parse(result.out.substr(0, result.out.find('\n'))), {});
  administrator_.database.clear();
}

void PrivateServer::stop() { must({"stop", directory().string()}); }

void PrivateServer::kill() { must({"kill", directory().string()}); }

ProcessResult PrivateServer::client(const std::string& text) {
  return script({"client", kind_, directory().string()}, text);
}

MysqlOptions PrivateServer::new_database(bool with_tables) {
  MysqlOptions options = administrator_;
  options.database = "faults_" + std::to_string(++databases_);
  value_of(administrator_, "CREATE DATABASE " + options.database + " CHARACTER SET utf8mb4");
  if (!with_tables) return options;
  MysqlOptions creating = options;
  creating.mode = OpenMode::create;
  creating.full_indexes = false;
  (void)open_mysql(creating);
  return options;
}

PrivateServer& private_server(const std::string& kind) {
  static std::map<std::string, std::unique_ptr<PrivateServer>> servers;
  std::unique_ptr<PrivateServer>& server = servers[kind];
  if (server == nullptr) server = std::make_unique<PrivateServer>(kind);
  server->start();  // a test that failed may have left it down
  return *server;
}

GlobalSetting::GlobalSetting(const PrivateServer& server, std::string name, const std::string& value)
    : administrator_(server.administrator()),
      name_(std::move(name)),
      before_(value_of(administrator_, "SELECT @@GLOBAL." + name_)) {
  value_of(administrator_, "SET GLOBAL " + name_ + " = " + as_sql(value));
}

GlobalSetting::~GlobalSetting() {
  try {
    value_of(administrator_, "SET GLOBAL " + name_ + " = " + as_sql(before_));
  } catch (const std::exception&) {
    // The server is down, and begins with its own settings.
  }
}

}  // namespace waybill::test
