// Several repositories on one file, in threads and in processes.

#include <atomic>
#include <map>
#include <sstream>
#include <thread>

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

constexpr int kEvents = 1200;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("threads with a repository each claim disjoint sets and leave nothing") {
  StoreFile file;
  append_many(*file.create(), "E", kEvents);
  const bool ordered = GENERATE(false, true);
  constexpr int kThreads = 4;
  std::array<Numbers, kThreads> taken;
  std::atomic<int> fenced{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const auto store = file.open();
      ClaimRequest request = claim_request(static_cast<std::size_t>(3 + t), "relay-" + std::to_string(t));
      if (ordered) request.ordering = Ordering::aggregate;
      std::vector<Settlement> settlements;
      do {
        const ExchangeResult result = store->exchange(settlements, request);
        for (const SettleStatus status : result.settled) fenced += status == SettleStatus::fenced;
        settlements.clear();
        for (const Event& event : result.claimed.events) {
          taken[static_cast<std::size_t>(t)].push_back(event.event_no);
          settlements.push_back(settlement_of(event, Command::succeed));
        }
      } while (!settlements.empty());
    });
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, int> times;
  for (const Numbers& numbers : taken)
    for (const std::string& number : numbers) ++times[number];
  CHECK(times.size() == kEvents);
  for (const auto& [number, count] : times) CHECK((number.empty() || count == 1));
  CHECK(fenced == 0);
  CHECK(file.open()->stats({}).of(Status::succeeded) == kEvents);
}

TEST_CASE("processes claim disjoint sets while others append") {
  StoreFile file;
  const auto store = file.create();
  append_many(*store, "E", kEvents / 2);
  const std::string url = file.url("synchronous=normal");
  std::vector<std::unique_ptr<Process>> relays;
  std::vector<fs::path> outputs;
  for (int i = 0; i < 2; ++i) {
    ProcessOptions options = helper({"drain", url, "relay-" + std::to_string(i), std::to_string(5 + i)});
    outputs.push_back(file.folder() / ("out-" + std::to_string(i)));
    options.output = outputs.back();
    relays.push_back(std::make_unique<Process>(options));
  }
  Process producer(helper({"append", url, "P", "300"}));
  Process plain(helper({"insert", file.options.path, "1", "300"}));
  CHECK(producer.wait().exit_code == 0);
  CHECK(plain.wait().exit_code == 0);
  for (const auto& relay : relays) CHECK(relay->wait().exit_code == 0);

  std::map<std::string, int> times;
  for (const fs::path& output : outputs)
    for (const std::string& line : lines_of(read_file(output))) ++times[line];
  for (const std::string& late : deliver_all(*store)) ++times[late];  // appended after the relays had seen the end
  CHECK(times.size() == kEvents / 2 + 600);
  for (const auto& [number, count] : times) {
    INFO(number);
    CHECK(count == 1);
  }
  CHECK(store->stats({}).of(Status::succeeded) == kEvents / 2 + 600);
  SQLite::Database other = file.other_program();
  CHECK(is_sound(other));
}

TEST_CASE("a stale owner changes nothing, whatever it settles with") {
  StoreFile file;
  const auto first = file.create();
  const auto second = file.open();
  append(*first, make_event("E1"));
  ClaimRequest request = claim_request(1, "relay-a");
  request.lease = 1s;
  const Event stale = first->claim(request).events.at(0);
  file.clock->advance(1s);
  const auto expired = second->expired(10);
  REQUIRE(expired.size() == 1);
  Settlement expire{expired[0].token, Command::expire, file.clock->now(), "lease expired", false};
  REQUIRE(settle(*second, expire) == SettleStatus::applied);
  request.owner = GENERATE("relay-b", "relay-a");  // also when the next claim is by an owner of the same name
  REQUIRE(second->claim(request).events.size() == 1);
  const Event before = second->find("E1").value();

  for (const Command command : {Command::succeed, Command::fail, Command::reject, Command::release, Command::expire}) {
    INFO(to_string(command));
    Settlement settlement = settlement_of(stale, command);
    settlement.next_retry_time = file.clock->now();
    settlement.reason = "stale";
    settlement.cancel_if_dead = true;
    CHECK(settle(*first, settlement) == SettleStatus::fenced);
    CHECK(first->exchange({&settlement, 1}, claim_request()).settled.front() == SettleStatus::fenced);
  }
  Settlement stranger = settlement_of(before, GENERATE(Command::succeed, Command::fail, Command::release));
  stranger.token.owner = "somebody";
  CHECK(settle(*first, stranger) == SettleStatus::fenced);
  CHECK(first->extend({&stranger.token, 1}, 1h).front() == SettleStatus::fenced);
  const Token token = token_of(stale);
  CHECK(first->extend({&token, 1}, 1h).front() == SettleStatus::fenced);
  CHECK(second->find("E1").value() == before);
}

TEST_CASE("many repositories on one file in one process open, work and close in any order") {
  StoreFile file;
  std::vector<std::unique_ptr<IEventRepository>> stores;
  stores.push_back(file.create());
  for (int i = 0; i < 20; ++i) stores.push_back(file.open());
  for (std::size_t i = 0; i < stores.size(); ++i) append(*stores[i], make_event("E" + std::to_string(i)));
  for (std::size_t i = 0; i < stores.size(); i += 2) stores[i].reset();
  CHECK(deliver_all(*stores[1]).size() == 21);
  CHECK(stores[3]->stats({}).of(Status::succeeded) == 21);
}

}  // namespace
}  // namespace waybill::test
