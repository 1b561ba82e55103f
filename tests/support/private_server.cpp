#include "support/private_server.hpp"

#include <stdexcept>

#include "support/process.hpp"

namespace waybill::test {

PrivateServer::PrivateServer(std::string kind) : kind_(std::move(kind)) { start(); }

PrivateServer::~PrivateServer() {
  try {
    kill();
  } catch (const std::exception&) {
    // It is dead already: a test failed between kill() and start().
  }
}

void PrivateServer::kill() { script({"kill", (directory_.path() / "s").string()}); }

void PrivateServer::start() {
  const std::string said = script({"start", kind_, (directory_.path() / "s").string()});
  url_ = said.substr(0, said.find('\n'));
}

std::string PrivateServer::script(const std::vector<std::string>& words) {
  ProcessOptions options;
  options.program = WAYBILL_MYSQL_SERVER_SCRIPT;
  options.arguments = words;
  const ProcessResult result = run_process(options, {}, streams_.path(), std::chrono::seconds{120});
  if (result.exit_code != 0) throw std::runtime_error("tools/mysql-server " + words.front() + ": " + result.err);
  return result.out;
}

}  // namespace waybill::test
