// The same on MySQL and MariaDB, whose servers die too.

#include "crash/scenario.hpp"
#include "mysql/private_server.hpp"
#include "support/catch.hpp"
#include "support/mysql_server.hpp"

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
