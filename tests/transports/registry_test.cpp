#include "support/catch.hpp"
#include "waybill/transports/builtin.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

TransportRegistry registry(std::shared_ptr<const HandlerMap> handlers = {}) {
  TransportRegistry transports{"transport"};
  register_builtin_transports(transports, std::move(handlers));
  return transports;
}

TEST_CASE("stdout: opens with each of its formats") {
  for (const char* url : {"stdout:", "stdout:?format=cloudevents", "stdout:?format=event", "stdout:?format=payload"})
    CHECK(registry().open(url) != nullptr);
}

TEST_CASE("a transport's wrong URL is told with what to write instead") {
  CHECK_THROWS_WITH(registry().open("stdout:?format=xml"), Contains("format") && Contains("payload"));
  CHECK_THROWS_WITH(registry().open("stdout:?fromat=event"), Contains("fromat") && Contains("format"));
  CHECK_THROWS_WITH(registry().open("stdout:/tmp/x"), Contains("no host or path"));
  CHECK_THROWS_WITH(registry().open("stdout://host"), Contains("no host or path"));
  CHECK_THROWS_WITH(registry().open("htp://host"), Contains("htp") && Contains("stdout"));
  CHECK_THROWS_AS(registry().open("stdout:?format=xml"), ConfigError);
}

TEST_CASE("handler: needs handlers in this program") {
  CHECK_THROWS_WITH(registry().open("handler:"), Contains("registered none"));
  auto handlers = std::make_shared<HandlerMap>();
  CHECK_THROWS_AS(registry(handlers).open("handler:"), ConfigError);
  handlers->add("*", [](const Event&) {});
  CHECK(registry(handlers).open("handler:") != nullptr);
  CHECK_THROWS_AS(registry(handlers).open("handler:?x=1"), ConfigError);
}

}  // namespace
}  // namespace waybill::test
