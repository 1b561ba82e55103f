#include <algorithm>
#include <map>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

using Counts = std::array<std::uint64_t, 5>;

class Counting : public Contract {
 protected:
  /// Events of all states, an hour apart: 1 succeeded, 1 cancelled, 2 dead, 1 in progress, 1 to retry, 3 pending.
  void fill() {
    start = now();
    add_in(Status::succeeded, "done");
    add_in(Status::cancelled, "cancelled");
    clock().advance(1h);
    add_dead("dead-1");
    add_dead("dead-2");
    add_in(Status::in_progress, "held");
    clock().advance(1h);
    add_in(Status::failed, "retry");
    append_many("scheduled-", 1, 1, now() + 1h);
    clock().advance(30min);
    append({"new-1", "new-2"});
  }
  Timestamp start{};
};

TEST_CASE_METHOD(Counting, "stats of an empty store are zero", "[stats]") {
  const Stats stats = store->stats({});
  CHECK(stats.by_status == Counts{});
  CHECK(stats.dead == 0);
  CHECK_FALSE(stats.oldest_pending.has_value());
  CHECK(stats.archived + stats.purged + stats.dropped == 0);
  CHECK(store->backlog().depth() == 0);
  CHECK_FALSE(store->backlog().oldest.has_value());
  CHECK(store->backlog_by_channel().empty());
}

TEST_CASE_METHOD(Counting, "stats count by status", "[stats]") {
  fill();
  const Stats stats = store->stats({});
  CHECK(stats.by_status == Counts{3, 1, 1, 3, 1});
  CHECK(stats.of(Status::failed) == 3);
  CHECK(stats.dead == 2);
  CHECK(stats.oldest_pending == start + 2h);
}

TEST_CASE_METHOD(Counting, "stats over a time, a type, a topic", "[stats]") {
  fill();
  NewEvent paid = make_event("paid");
  paid.event_type = "ORDER_PAID";
  paid.topic = "pay.event";
  append(paid);
  StatsRequest request;
  SECTION("time, the end excluded") {
    request.created_from = start + 1h;
    request.created_until = start + 2h;
    const Stats stats = store->stats(request);
    CHECK(stats.by_status == Counts{0, 1, 0, 2, 0});
    CHECK(stats.dead == 2);
    CHECK_FALSE(stats.oldest_pending.has_value());
  }
  SECTION("type") {
    request.event_type = "ORDER_PAID";
    CHECK(store->stats(request).by_status == Counts{1, 0, 0, 0, 0});
    CHECK(store->stats(request).oldest_pending == paid.create_time.value_or(now()));
  }
  SECTION("type and time") {
    request.event_type = "ORDER_CREATED";
    request.created_from = start + 2h;
    CHECK(store->stats(request).by_status == Counts{3, 0, 0, 1, 0});
    request.created_until = start + 2h + 1us;
    CHECK(store->stats(request).by_status == Counts{1, 0, 0, 1, 0});
  }
  SECTION("topic") {
    request.topic = "pay.event";
    CHECK(store->stats(request).by_status == Counts{1, 0, 0, 0, 0});
    request.event_type = "ORDER_CREATED";
    CHECK(store->stats(request).by_status == Counts{});
  }
}

TEST_CASE_METHOD(Counting, "the oldest pending event is the first appended, whatever its time says", "[stats]") {
  NewEvent first = make_event("E1");
  NewEvent second = make_event("E2");
  first.create_time = now();
  first.next_retry_time = now() + 1h;
  second.create_time = now() - 1h;
  append(first);
  append(second);
  CHECK(store->stats({}).oldest_pending == first.create_time);
  CHECK(store->backlog().oldest == first.create_time);
}

TEST_CASE_METHOD(Counting, "stats remember what was archived and purged", "[stats]") {
  fill();
  if (has_archive()) {
    REQUIRE(store->archive(now(), 1) == 1);
    CHECK(store->stats({}).archived == 1);
    CHECK(store->stats({}).by_status == Counts{3, 1, 0, 3, 1});
  }
  clock().advance(1s);
  REQUIRE(store->purge(now(), 10) == 2);
  StatsRequest nothing;
  nothing.event_type = "NO_SUCH_TYPE";
  reopen();
  const Stats stats = store->stats(nothing);
  CHECK(stats.by_status == Counts{});
  CHECK(stats.archived == 0);
  CHECK(stats.purged == 2);
}

TEST_CASE_METHOD(Counting, "the backlog is what can still be delivered", "[stats][backlog]") {
  fill();
  const Backlog backlog = store->backlog();
  CHECK(backlog.pending == 3);
  CHECK(backlog.in_progress == 1);
  CHECK(backlog.retryable == 1);
  CHECK(backlog.depth() == 5);
  CHECK(backlog.oldest == start + 1h);  // the held one; the dead before it are no backlog
}

TEST_CASE_METHOD(Counting, "the backlog by channel counts what is not finished", "[stats][backlog]") {
  const auto add = [&](Status status, const char* number, const char* channel, std::optional<std::string> topic) {
    NewEvent event = make_event(number);
    event.publish_channel = channel;
    event.topic = std::move(topic);
    add_in(status, event);
  };
  add(Status::succeeded, "E1", "MQ", "a");
  add(Status::cancelled, "E2", "HTTP", "x");
  add(Status::failed, "E3", "MQ", "a");
  add(Status::in_progress, "E4", "MQ", "b");
  add_dead("E5");  // MQ, order.event
  add(Status::pending, "E6", "MQ", std::nullopt);
  add(Status::pending, "E7", "MQ", "a");
  add(Status::pending, "E8", "HTTP", "a");
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for (const ChannelBacklog& line : store->backlog_by_channel())
    CHECK(counts.try_emplace({line.publish_channel, line.topic.value_or("(none)")}, line.unsettled).second);
  const std::map<std::pair<std::string, std::string>, std::uint64_t> expected{
      {{"MQ", "a"}, 2}, {{"MQ", "b"}, 1}, {{"MQ", "order.event"}, 1}, {{"MQ", "(none)"}, 1}, {{"HTTP", "a"}, 1}};
  CHECK(counts == expected);
}

TEST_CASE_METHOD(Contract, "notes are kept with the store", "[notes]") {
  CHECK_FALSE(store->note("routes").has_value());
  store->set_note("routes", "MQ:*");
  store->set_note("empty", "");
  CHECK(store->note("routes") == "MQ:*");
  CHECK(store->note("empty") == "");
  store->set_note("routes", "HTTP:*");
  CHECK(database->open()->note("routes") == "HTTP:*");
  reopen();
  CHECK(store->note("routes") == "HTTP:*");
}

TEST_CASE_METHOD(Contract, "a sound store has no errors to report", "[diagnose]") {
  append({"E1"});
  const auto findings = store->diagnose();
  CHECK_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    CAPTURE(finding.name, finding.detail);
    CHECK_FALSE(finding.name.empty());
    CHECK(finding.level != Finding::Level::error);
  }
}

TEST_CASE_METHOD(Contract, "now is the store's clock", "[clock]") {
  CHECK(store->now() == clock().now());
  clock().advance(1234567us);
  CHECK(store->now() == clock().now());
}

}  // namespace
}  // namespace waybill::test
