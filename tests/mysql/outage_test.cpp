// Servers that are not there, or say nothing.

#include "mysql/mysql_fixture.hpp"
#include "mysql/proxy.hpp"

namespace waybill::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Whole seconds that both time-outs have here, and what a busy machine may add.
constexpr std::chrono::seconds kTimeout{1};
constexpr std::chrono::milliseconds kSlack{900};

class Outages : protected OnSharedServers {
 protected:
  Outages() : proxy(database.options().port), options(options_by(proxy.port())) {
    options.connect_timeout = options.timeout = kTimeout;
  }
  /// What the call throws; it must end in time.
  template <class Call>
  std::optional<StorageError> in_time(Clock::duration most, Call call) {
    const auto begun = Clock::now();
    auto error = error_of(call);
    CHECK(Clock::now() - begun < most + kSlack);
    return error;
  }

  Proxy proxy;
  MysqlOptions options;
};

TEST_CASE("where no server listens, the text says where that is and what to do", "[outage]") {
  MysqlOptions options;
  options.host = "127.0.0.1";
  options.port = Proxy(1).port();  // free again
  options.user = "somebody";
  options.password = "s3cret of it";
  options.database = "shop";
  const auto error = error_of([&] { (void)open_mysql(options); });
  CHECK(is(error, ErrorCode::unavailable, {"127.0.0.1:" + std::to_string(options.port), "check that it runs"}));
  options.socket = "/nowhere/socket";
  CHECK(is(error_of([&] { (void)open_mysql(options); }), ErrorCode::unavailable, {"/nowhere/socket"}));
  options.socket.clear();
  options.host = "no-such-host.invalid";
  CHECK(is(error_of([&] { (void)open_mysql(options); }), ErrorCode::unavailable, {"no-such-host.invalid"}));
}

TEST_CASE_METHOD(Outages, "a server that accepts and says nothing is given up after connect_timeout", "[outage]") {
  options.timeout = 30s;
  proxy.go_silent();
  const auto error = in_time(kTimeout, [&] { (void)open_mysql(options); });
  CHECK(is(error, ErrorCode::unavailable, {"127.0.0.1:" + std::to_string(proxy.port())}));
}

TEST_CASE_METHOD(Outages, "a server that falls silent is given up after the time-out, and found again", "[outage]") {
  const auto store = open_mysql(options);
  const NewEvent event = make_event("e1");
  proxy.prepare(Proxy::Fault::go_silent, "BEGIN");
  const auto error = in_time(kTimeout, [&] { (void)store->append({&event, 1}); });
  CHECK(is(error, ErrorCode::unavailable));
  CHECK(is(in_time(kTimeout, [&] { (void)store->claim(claim_request()); }), ErrorCode::unavailable,
           {"127.0.0.1:" + std::to_string(proxy.port())}));
  proxy.let_through();
  deliver_one(*store, "e1");
}

TEST_CASE_METHOD(Outages, "a server that falls silent at COMMIT leaves the outcome unknown", "[outage]") {
  const auto store = open_mysql(options);
  const NewEvent event = make_event("e1");
  proxy.prepare(Proxy::Fault::go_silent, "COMMIT");
  const auto error = in_time(2 * kTimeout, [&] { (void)store->append({&event, 1}); });
  CHECK(is(error, ErrorCode::outcome_unknown));
  proxy.let_through();
  REQUIRE_FALSE(store->find("e1").has_value());
  deliver_one(*store, "e1");
}

}  // namespace
}  // namespace waybill::test
