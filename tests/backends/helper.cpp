// What tests run in another process: `waybill_backends_helper [--unprivileged] VERB ARGUMENTS…`. Prints what it did, or
// `error CODE: text` with exit status 1.

#include <grp.h>
#include <sqlite3.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "waybill/backends/builtin.hpp"

namespace waybill::test {
namespace {

using Words = std::vector<std::string>;
constexpr unsigned kNobody = 65534;

std::unique_ptr<IEventRepository> open_store(const std::string& url, OpenMode mode = OpenMode::read_write) {
  BackendRegistry registry("store");
  register_builtin_backends(registry);
  OpenContext context;
  context.mode = mode;
  context.log = [](LogLevel, std::string_view line) { std::cout << "log: " << line << std::endl; };
  return registry.open(url, context);
}

NewEvent event_named(const std::string& event_no) {
  NewEvent event;
  event.event_no = event_no;
  event.aggregate_type = "ORDER";
  event.aggregate_id = event_no;
  event.event_type = "ORDER_CREATED";
  event.topic = "order.event";
  event.event_payload = "{}";
  return event;
}

/// append URL PREFIX COUNT: one commit each.
void append(const Words& words) {
  const auto store = open_store(words.at(0));
  for (int i = 1; i <= std::stoi(words.at(2)); ++i) {
    const NewEvent event = event_named(words.at(1) + std::to_string(i));
    (void)store->append({&event, 1});
  }
}

/// drain URL OWNER LIMIT: claims and settles until all events are; prints each number before it is settled.
void drain(const Words& words) {
  const auto store = open_store(words.at(0));
  ClaimRequest request;
  request.owner = words.at(1);
  request.limit = static_cast<std::size_t>(std::stoi(words.at(2)));
  while (store->backlog().depth() != 0) {
    std::vector<Settlement> settlements;
    for (const Event& event : store->claim(request).events) {
      std::cout << event.event_no << '\n';
      settlements.emplace_back().token = token_of(event);
    }
    (void)store->settle(settlements);
    if (settlements.empty()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  std::cout.flush();
}

/// open URL [read_only]: opens, and counts.
void open(const Words& words) {
  const auto store = open_store(words.at(0), words.size() > 1 ? OpenMode::read_only : OpenMode::read_write);
  std::cout << "pending " << store->stats({}).of(Status::pending) << std::endl;
}

/// Every question, on a file that may not be written.
void ask(const Words& words) {
  const auto store = open_store(words.at(0), OpenMode::read_only);
  const Stats stats = store->stats({});
  const auto listed = store->query({}, {}).size();
  const auto findings = store->diagnose().size();
  std::cout << "pending " << stats.of(Status::pending) << " listed " << listed << " found "
            << store->find(words.at(1)).has_value() << " backlog " << store->backlog().depth() << " channels "
            << store->backlog_by_channel().size() << " findings " << (findings > 0) << " note "
            << store->note("none").has_value() << std::endl;
  const NewEvent event = event_named("refused");
  (void)store->append({&event, 1});
}

/// insert PATH FIRST LAST: a program without waybill; one commit each, as fast as it can.
void insert(const Words& words) {
  sqlite3* db = nullptr;
  sqlite3_open(words.at(0).c_str(), &db);
  sqlite3_busy_timeout(db, 10'000);
  for (int i = std::stoi(words.at(1)); i <= std::stoi(words.at(2)); ++i) {
    const std::string sql =
        "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
        "publish_channel, event_payload) VALUES ('plain" +
        std::to_string(i) + "', 'ORDER', '1', 'ORDER_CREATED', 'plain', 'MQ', '{}')";
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      throw std::runtime_error("insert failed");
  }
  sqlite3_close(db);
}

void give_up_rights() {
  if (::geteuid() != 0) return;  // the permission bits hold for us as it is
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0)
    throw std::runtime_error("could not become nobody");
}

int run(Words words) {
  if (words.at(0) == "--unprivileged") {
    give_up_rights();
    words.erase(words.begin());
  }
  const std::string verb = words.at(0);
  words.erase(words.begin());
  if (verb == "append") append(words);
  if (verb == "drain") drain(words);
  if (verb == "open") open(words);
  if (verb == "ask") ask(words);
  if (verb == "insert") insert(words);
  return 0;
}

}  // namespace
}  // namespace waybill::test

int main(int count, char** words) {
  try {
    return waybill::test::run({words + 1, words + count});
  } catch (const waybill::StorageError& error) {
    std::cout << "error " << waybill::to_string(error.code()) << ": " << error.what() << std::endl;
  } catch (const std::exception& error) {
    std::cout << "failed: " << error.what() << std::endl;
  }
  return 1;
}
