#include "waybill/transports/builtin.hpp"

#include <unistd.h>

#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "common/event_line.hpp"
#include "waybill/transports/exec.hpp"
#include "waybill/transports/stdout.hpp"

namespace waybill {
namespace {

constexpr std::array<OptionSpec, 1> kStdoutOptions{transports::kFormatOption};

constexpr std::array<OptionSpec, 3> kExecOptions{{
    transports::kFormatOption,
    {"timeout", OptionType::duration, "30s", "how long one run may take; then it is killed and counts as failed",
     "1ms..24h"},
    {"other", OptionType::choice, "retry", "an exit status beside 0 and 75: try again, or give the event up",
     "retry|reject"},
}};

/// These schemes name no place: anything but options behind the colon is a mistake.
void require_bare(const Url& url) {
  if (url.has_authority || !url.path.empty())
    throw ConfigError(url.scheme + ": takes no host or path, only options: got '" + url.redacted() + "'");
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

TransportRegistry::Entry stdout_entry() {
  // One sink for all workers of the process, or their lines would mix.
  auto sink = std::make_shared<LineSink>(STDOUT_FILENO);
  return {[sink](const Url& url, const OpenContext&) {
            require_bare(url);
            return make_line_transport(sink, transports::line_format(Options(url, kStdoutOptions).text("format")));
          },
          "stdout:?OPTIONS", "one line of JSON an event to standard output", kStdoutOptions};
}

TransportRegistry::Entry exec_entry() {
  return {[](const Url& url, const OpenContext&) {
            if (url.has_authority)
              throw ConfigError("exec: takes a program, not a host; write exec:/path/to/program ARG, got '" +
                                url.redacted() + "'");
            const Options given(url, kExecOptions);
            ExecOptions options;
            options.command = words_of(url.path);
            options.time_limit = given.duration("timeout");
            options.reject_others = given.text("other") == "reject";
            options.format = transports::line_format(given.text("format"));
            return make_exec_transport(std::move(options));
          },
          "exec:PROGRAM ARGS", "a program of this machine, the event on its standard input", kExecOptions};
}

TransportRegistry::Entry handler_entry(std::shared_ptr<const HandlerMap> handlers) {
  return {[handlers = std::move(handlers)](const Url& url, const OpenContext&) {
            require_bare(url);
            const Options options{url, {}};
            if (!handlers || handlers->empty())
              throw ConfigError("handler: delivers to C++ functions, and this program has registered none");
            return make_handler_transport(handlers);
          },
          "handler:",
          "C++ functions of this program, by event type",
          {}};
}

}  // namespace

void register_builtin_transports(TransportRegistry& registry, std::shared_ptr<const HandlerMap> handlers) {
  registry.add("exec", exec_entry());
  registry.add("stdout", stdout_entry());
  registry.add("handler", handler_entry(std::move(handlers)));
}

}  // namespace waybill
