#include "waybill/transports/builtin.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "waybill/transports/stdout.hpp"

namespace waybill {
namespace {

constexpr std::array<OptionSpec, 1> kStdoutOptions{{
    {"format", OptionType::choice, "cloudevents",
     "cloudevents: CloudEvents 1.0 JSON; event: all columns; payload: the payload alone", "cloudevents|event|payload"},
}};

/// These schemes name no place: anything but options behind the colon is a mistake.
void require_bare(const Url& url) {
  if (url.has_authority || !url.path.empty())
    throw ConfigError(url.scheme + ": takes no host or path, only options: got '" + url.redacted() + "'");
}

LineFormat line_format(const std::string& name) {
  if (name == "event") return LineFormat::event;
  if (name == "payload") return LineFormat::payload;
  return LineFormat::cloudevents;
}

TransportRegistry::Entry stdout_entry() {
  // One sink for all workers of the process, or their lines would mix.
  auto sink = std::make_shared<LineSink>(STDOUT_FILENO);
  return {[sink](const Url& url, const OpenContext&) {
            require_bare(url);
            return make_line_transport(sink, line_format(Options(url, kStdoutOptions).text("format")));
          },
          "stdout:?OPTIONS", "one line of JSON an event to standard output", kStdoutOptions};
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
  registry.add("stdout", stdout_entry());
  registry.add("handler", handler_entry(std::move(handlers)));
}

}  // namespace waybill
