// A COMMIT whose answer never comes: the store says what became of it, or that it can't tell.

#include <algorithm>

#include "mysql/mysql_fixture.hpp"
#include "mysql/proxy.hpp"

namespace waybill::test {
namespace {

using Fault = Proxy::Fault;

class LostCommits : protected OnSharedServers {
 protected:
  LostCommits() : proxy(database.options().port), store(open_mysql(options_by(proxy.port()))) {}

  /// Runs `call` while its first COMMIT is lost.
  template <class Call>
  auto losing(Fault fault, Call call) {
    INFO((fault == Fault::lose_answer ? "the server commits" : "the server never sees it"));
    const int before = proxy.faults();
    proxy.prepare(fault, "COMMIT");
    auto result = call();
    REQUIRE(proxy.faults() == before + 1);
    return result;
  }
  /// As losing(), and then nobody can be asked.
  template <class Call>
  std::optional<StorageError> cut_off(Fault fault, Call call) {
    proxy.refuse_after_fault();
    const auto error = losing(fault, [&] { return error_of([&] { (void)call(); }); });
    proxy.let_through();
    return error;
  }
  [[nodiscard]] std::int64_t id_of(const std::string& event_no) {
    return std::stoll(database.value("SELECT id FROM biz_outbox_event WHERE event_no = '" + event_no + "'"));
  }
  [[nodiscard]] std::string count(const std::string& condition) {
    return database.value("SELECT COUNT(*) FROM biz_outbox_event WHERE " + condition);
  }
  std::vector<Event> claim_all(int count) {
    REQUIRE(store->append(make_events("e", count)).size() == static_cast<std::size_t>(count));
    std::vector<Event> events = store->claim(claim_request()).events;
    REQUIRE(events.size() == static_cast<std::size_t>(count));
    return events;
  }

  Proxy proxy;
  std::unique_ptr<IEventRepository> store;
};

Fault either_fault() { return GENERATE(Fault::lose_answer, Fault::lose_request); }

TEST_CASE_METHOD(LostCommits, "append after a lost COMMIT: inserted, once, with the ids of the rows", "[lost-commit]") {
  const Fault fault = either_fault();
  const std::vector<NewEvent> events = make_events("e", 3);
  const auto results = losing(fault, [&] { return store->append(events); });
  REQUIRE(results.size() == 3);
  for (std::size_t at = 0; at < results.size(); ++at) {
    CHECK(results[at].status == AppendStatus::inserted);
    CHECK(results[at].id == id_of(events[at].event_no));
  }
  CHECK(count("TRUE") == "3");
}

TEST_CASE_METHOD(LostCommits, "append after a lost COMMIT: duplicates and conflicts stay what they are",
                 "[lost-commit]") {
  const Fault fault = either_fault();
  const NewEvent known = make_event("known");
  NewEvent other = make_event("other");
  REQUIRE(append(*store, known) == AppendStatus::inserted);
  REQUIRE(append(*store, other) == AppendStatus::inserted);
  other.event_payload = R"({"amount":200})";
  const std::vector<NewEvent> batch{make_event("new1"), known, other, make_event("new2"), make_event("new1")};
  const auto results = losing(fault, [&] { return store->append(batch); });
  REQUIRE(results.size() == 5);
  CHECK(results[0].status == AppendStatus::inserted);
  CHECK(results[1].status == AppendStatus::duplicate);
  CHECK(results[2].status == AppendStatus::conflict);
  CHECK(results[2].difference == "event_payload");
  CHECK(results[3].status == AppendStatus::inserted);
  CHECK(results[4].status == AppendStatus::duplicate);
  for (std::size_t at = 0; at < results.size(); ++at) CHECK(results[at].id == id_of(batch[at].event_no));
  CHECK(count("TRUE") == "4");
}

TEST_CASE_METHOD(LostCommits, "claim after a lost COMMIT: what it returns is what the owner holds", "[lost-commit]") {
  const Fault fault = either_fault();
  REQUIRE(store->append(make_events("e", 5)).size() == 5);
  const auto events = losing(fault, [&] { return store->claim(claim_request(3)); }).events;
  CHECK(count("publish_status = 1 AND locked_by = 'relay-a'") == std::to_string(events.size()));
  for (const Event& event : events)
    CHECK(count("publish_status = 1 AND locked_by = 'relay-a' AND id = " + std::to_string(event.id) +
                " AND version = " + std::to_string(event.version)) == "1");
  CHECK(events.size() == (fault == Fault::lose_answer ? 3 : 0));
  CHECK(store->claim(claim_request(10)).events.size() + events.size() == 5);
  CHECK(count("version <> 1") == "0");
}

TEST_CASE_METHOD(LostCommits, "settle after a lost COMMIT: applied once, and fenced is fenced", "[lost-commit]") {
  const Fault fault = either_fault();
  const std::vector<Event> events = claim_all(6);
  std::vector<Settlement> settlements;
  for (const Event& event : events) settlements.push_back(settlement_of(event, Command::succeed));
  settlements[1].command = Command::fail;
  settlements[1].next_retry_time = store->now() + 1h;
  settlements[1].reason = "refused";
  settlements[2].command = Command::release;
  settlements[2].next_retry_time = store->now() + 1h;
  settlements[3].command = Command::reject;
  settlements[3].reason = "refused for good";
  settlements[4].command = Command::reject;
  settlements[4].cancel_if_dead = true;
  settlements[5].token.version += 1;
  const auto statuses = losing(fault, [&] { return store->settle(settlements); });
  REQUIRE(statuses.size() == 6);
  for (std::size_t at = 0; at < 5; ++at) CHECK(statuses[at] == SettleStatus::applied);
  CHECK(statuses[5] == SettleStatus::fenced);
  const std::array<Status, 6> expected{Status::succeeded, Status::failed,    Status::pending,
                                       Status::failed,    Status::cancelled, Status::in_progress};
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const Event event = store->find(events[at].event_no).value();
    CHECK(event.publish_status == expected[at]);
    CHECK(event.retry_count == (at == 1 || at == 3 || at == 4 ? 1 : 0));
  }
}

TEST_CASE_METHOD(LostCommits, "settle of one event after a lost COMMIT, whatever the outcome", "[lost-commit]") {
  const Fault fault = either_fault();
  const Command command = GENERATE(Command::succeed, Command::fail, Command::reject, Command::release);
  INFO(to_string(command));
  const Event event = claim_all(1).front();
  const Settlement settlement = settlement_of(event, command);
  CHECK(losing(fault, [&] { return settle(*store, settlement); }) == SettleStatus::applied);
  CHECK(store->find("e1")->publish_status == transition(command).to);
  CHECK(store->find("e1")->retry_count == (command == Command::fail || command == Command::reject ? 1 : 0));
}

TEST_CASE_METHOD(LostCommits, "exchange after a lost COMMIT: settled, and claimed is what the owner holds",
                 "[lost-commit]") {
  const Fault fault = either_fault();
  const std::vector<Event> events = claim_all(2);
  REQUIRE(store->append(make_events("next", 3)).size() == 3);
  const std::vector<Settlement> settlements{settlement_of(events[0], Command::succeed),
                                            settlement_of(events[1], Command::fail)};
  const auto result = losing(fault, [&] { return store->exchange(settlements, claim_request()); });
  CHECK(result.settled == std::vector<SettleStatus>(2, SettleStatus::applied));
  CHECK(result.claimed.events.size() == (fault == Fault::lose_answer ? 3 : 0));
  CHECK(count("publish_status = 1 AND locked_by = 'relay-a'") == std::to_string(result.claimed.events.size()));
  CHECK(count("event_no = 'e1' AND publish_status = 2 AND retry_count = 0") == "1");
  CHECK(count("event_no = 'e2' AND publish_status = 3 AND retry_count = 1") == "1");
}

TEST_CASE_METHOD(LostCommits, "append whose lost COMMIT nobody can look up: outcome_unknown", "[lost-commit]") {
  const Fault fault = either_fault();
  const NewEvent event = make_event("e1");
  CHECK(is(cut_off(fault, [&] { return store->append({&event, 1}); }), ErrorCode::outcome_unknown));
  CHECK(store->find("e1").has_value() == (fault == Fault::lose_answer));
}

TEST_CASE_METHOD(LostCommits, "settle whose lost COMMIT nobody can look up: repeated, it is applied", "[lost-commit]") {
  const Fault fault = either_fault();
  const Event event = claim_all(1).front();
  Settlement settlement = settlement_of(event, Command::fail);
  settlement.reason = "refused";
  CHECK(is(cut_off(fault, [&] { return settle(*store, settlement); }), ErrorCode::outcome_unknown));
  CHECK(settle(*store, settlement) == SettleStatus::applied);
  CHECK(store->find("e1")->retry_count == 1);
}

TEST_CASE_METHOD(LostCommits, "claim whose lost COMMIT nobody can look up: outcome_unknown", "[lost-commit]") {
  const Fault fault = either_fault();
  REQUIRE(append(*store, make_event("e1")) == AppendStatus::inserted);
  CHECK(is(cut_off(fault, [&] { return store->claim(claim_request()); }), ErrorCode::outcome_unknown));
  CHECK(store->claim(claim_request()).events.size() == (fault == Fault::lose_answer ? 0 : 1));
}

TEST_CASE_METHOD(LostCommits, "a COMMIT that is lost again while it is looked up: outcome_unknown", "[lost-commit]") {
  const NewEvent event = make_event("e1");
  proxy.prepare(Fault::lose_request, "COMMIT", 2);
  CHECK(is(error_of([&] { (void)store->append({&event, 1}); }), ErrorCode::outcome_unknown));
  CHECK(proxy.faults() == 2);
  CHECK(append(*store, event) == AppendStatus::inserted);
}

TEST_CASE_METHOD(LostCommits, "upkeep and notes say of a lost COMMIT that its outcome is unknown", "[lost-commit]") {
  const Fault fault = either_fault();
  const auto error = losing(fault, [&] { return error_of([&] { store->set_note("route", "new"); }); });
  CHECK(is(error, ErrorCode::outcome_unknown));
  CHECK(store->note("route").has_value() == (fault == Fault::lose_answer));
}

}  // namespace
}  // namespace waybill::test
