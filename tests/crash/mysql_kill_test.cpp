// The same on MySQL and MariaDB, whose servers die too.

#include <atomic>
#include <thread>

#include "crash/scenario.hpp"
#include "mysql/private_server.hpp"
#include "support/catch.hpp"
#include "support/mysql_server.hpp"
#include "waybill/relay_runner.hpp"

namespace waybill::test {
namespace {

constexpr bool kFullIndexes = true;  // as `waybill init` makes them

std::string kind_of(const MysqlServer& server) { return server.name == "mariadb" ? "mariadb" : "mysql9"; }

StoreUrl url_of(const MysqlOptions& options) {
  return {"mysql://" + options.user + ":" + options.password + "@" + options.host + ":" + std::to_string(options.port) +
          "/" + options.database};
}

MortalServer mortal(PrivateServer& server) {
  return {[&server] { server.kill(); }, [&server] { server.start(); }};
}

/// The server is killed during the first delivery, which lasts until the store must ask it for the time again.
class DeadlyTransport final : public ITransport {
 public:
  DeadlyTransport(PrivateServer& server, std::vector<std::string>& delivered)
      : server_(server), delivered_(delivered) {}

  std::vector<Outcome> deliver(std::span<const Event> events, Duration) override {
    if (delivered_.empty()) {
      server_.kill();
      std::this_thread::sleep_for(std::chrono::milliseconds{1500});
    }
    for (const Event& event : events) delivered_.push_back(event.event_no);
    return std::vector<Outcome>(events.size(), Outcome::delivered());
  }

 private:
  PrivateServer& server_;
  std::vector<std::string>& delivered_;
};

std::vector<NewEvent> plain_events(std::size_t count) {
  std::vector<NewEvent> events(count);
  for (NewEvent& event : events) {
    event.event_no = "e" + std::to_string(&event - events.data());
    event.aggregate_type = event.aggregate_id = event.event_type = "x";
    event.event_payload = "{}";
  }
  return events;
}

TEST_CASE("MySQL: what was delivered while the server died is recorded when it is back, and not delivered again") {
  for (const MysqlServer& shared : mysql_servers()) {
    INFO(shared.name);
    PrivateServer server(kind_of(shared));
    const MysqlOptions options = server.new_database();
    const auto store = open_mysql(options);
    (void)store->append(plain_events(20));
    std::vector<std::string> delivered;
    const auto open_routes = [&] {
      std::vector<Route> routes;
      routes.push_back({RoutePattern{}, "deadly", std::make_unique<DeadlyTransport>(server, delivered)});
      return routes;
    };
    RunnerOptions running;
    running.relay.claim.owner = "relay";
    running.relay.claim.limit = 10;
    running.drain = true;
    NoTelemetry telemetry;
    std::atomic<bool> noticed{false};
    RelayRunner runner([&] { return open_mysql(options); }, open_routes, running, telemetry,
                       [&](LogLevel, std::string_view) { noticed = true; });
    std::thread relay([&] { (void)runner.run(); });
    CHECK(eventually([&] { return noticed.load(); }));
    server.start();
    relay.join();
    CHECK(delivered.size() == 20);
    CHECK(store->stats({}).of(Status::succeeded) == 20);
  }
}

TEST_CASE("MySQL: kills without order lose nothing, and the books balance") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    const MysqlDatabase database(server, kFullIndexes);
    Site site{StoreUrl{database.url()}};
    run_turmoil("kills without order on " + server.name, {.order = "none", .rounds = 20, .on_server = true}, site);
  }
}

TEST_CASE("MySQL: kills with order by aggregate leave first deliveries in order") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    const MysqlDatabase database(server, kFullIndexes);
    Site site{StoreUrl{database.url()}};
    run_turmoil("kills with order by aggregate on " + server.name,
                {.order = "aggregate", .rounds = 20, .shared_output = true, .freeze_percent = 25, .on_server = true},
                site);
  }
}

TEST_CASE("MySQL: the server is killed, too, and everybody goes on when it is back") {
  for (const MysqlServer& shared : mysql_servers()) {
    INFO(shared.name);
    PrivateServer server(kind_of(shared));
    Site site{url_of(server.new_database(false))};
    run_turmoil("kills of the server " + shared.name,
                {.order = "aggregate",
                 .rounds = 20,
                 .shared_output = true,
                 .freeze_percent = 25,
                 .on_server = true,
                 .server_dies_every = 3},
                site, mortal(server));
  }
}

TEST_CASE("MySQL: without kills two relays deliver each event once, and both have work") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    const MysqlDatabase database(server, kFullIndexes);
    const Site site{StoreUrl{database.url()}};
    for (const auto& [name, delivered] : deliver_each_once(site)) {
      INFO(name);
      CHECK(delivered > 0);
    }
  }
}

}  // namespace
}  // namespace waybill::test
