// A program that writes its data and its events in one transaction is killed: both are there, or neither.

#include <SQLiteCpp/SQLiteCpp.h>

#include <csignal>
#include <iostream>
#include <sstream>
#include <thread>

#include "crash/audit.hpp"
#include "crash/chance.hpp"
#include "crash/pipe.hpp"
#include "crash/site.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

using Numbers = std::set<std::int64_t>;

Numbers ask(const Site& site, const char* sql) {
  SQLite::Database database{site.database().string()};
  SQLite::Statement query{database, sql};
  Numbers numbers;
  while (query.executeStep()) numbers.insert(query.getColumn(0).getInt64());
  return numbers;
}

Numbers orders_in(const Site& site) { return ask(site, "SELECT id FROM biz_order"); }
Numbers events_in(const Site& site) {
  return ask(site, "SELECT CAST(substr(event_no, 7) AS INTEGER) FROM biz_outbox_event WHERE event_no GLOB 'order-*'");
}

/// Starts the program, kills it at a random moment, returns what it had acknowledged.
Numbers run_and_kill(const Site& site, Chance& chance) {
  Pipe pipe;
  ProcessOptions options;
  options.program = WAYBILL_CRASH_ORDERS;
  options.arguments = {site.database().string()};
  options.output_fd = pipe.writer();
  Process program{options};
  pipe.close_writer();
  std::string said;
  const auto wanted = chance.between(1, 25);
  while (std::count(said.begin(), said.end(), '\n') < wanted) REQUIRE(pipe.read_some(said, std::chrono::seconds{30}));
  std::this_thread::sleep_for(std::chrono::microseconds{chance.between(0, 3000)});  // a random moment
  program.signal(SIGKILL);
  REQUIRE(program.wait().signal == SIGKILL);
  said += pipe.read_rest();
  Numbers acknowledged;
  std::istringstream lines{said.substr(0, said.rfind('\n') + 1)};  // a torn number says nothing
  for (std::int64_t number = 0; lines >> number;) acknowledged.insert(number);
  return acknowledged;
}

TEST_CASE("a program killed within its transaction leaves orders and events in step") {
  Chance chance{"a killed program"};
  INFO("repeat with WAYBILL_TEST_SEED=" << chance.seed());
  const Site site;
  Process relay{site.relay("relay", {"--batch", "20", "--poll", "50ms", "--order", "aggregate"})};
  Numbers acknowledged;
  Numbers before;
  for (int round = 1; round <= 30; ++round) {
    CAPTURE(round);
    const Numbers now = run_and_kill(site, chance);
    acknowledged.insert(now.begin(), now.end());
    const Numbers orders = orders_in(site);
    CHECK(orders == events_in(site));
    CHECK(std::includes(orders.begin(), orders.end(), acknowledged.begin(), acknowledged.end()));
    // Committed, and killed before it could say so: one at most.
    CHECK(orders.size() <= before.size() + now.size() + 1);
    before = orders;
  }
  for (const std::int64_t order : before) CHECK(order % 7 != 0);  // those were rolled back
  wait_for_books(site, "all delivered", [](const Books& books) { return books.unfinished() == 0; });
  relay.signal(SIGTERM);
  CHECK(relay.wait().exit_code == 0);
  const Output output = read_output(read_file(site.output_of("relay")));
  Numbers delivered;
  for (const Delivery& delivery : output.deliveries) delivered.insert(delivery.payload.at("order").get<std::int64_t>());
  CHECK(delivered == before);
  CHECK(order_breaks(output.deliveries).empty());
  site.check_file_is_sound();
  std::cout << before.size() << " orders, " << before.size() - acknowledged.size() << " of them never acknowledged\n";
}

}  // namespace
}  // namespace waybill::test
