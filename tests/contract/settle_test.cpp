#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

Settlement settlement(const Event& claimed, Command command, std::string reason = "") {
  Settlement result;
  result.token = token_of(claimed);
  result.command = command;
  result.reason = std::move(reason);
  return result;
}

class Settling : public Contract {
 protected:
  /// E1, claimed, a second ago.
  Event held(int max_retry_count = 5) {
    NewEvent event = make_event("E1");
    event.max_retry_count = max_retry_count;
    append(event);
    Event claimed = claim_one("E1");
    clock().advance(1s);
    return claimed;
  }

  /// The claimed event without its lock, changed now.
  Event unlocked(Event claimed) {
    claimed.locked_by.reset();
    claimed.lock_until.reset();
    claimed.update_time = now();
    return claimed;
  }
};

TEST_CASE_METHOD(Settling, "succeed ends the event and forgets earlier trouble", "[settle]") {
  fail(held(), now());
  const Event claimed = claim_one("E1");
  clock().advance(1s);
  CHECK(succeed(claimed) == SettleStatus::applied);
  Event expected = unlocked(claimed);
  expected.publish_status = Status::succeeded;
  expected.published_time = now();
  expected.fail_reason.reset();
  CHECK(get("E1") == expected);
}

TEST_CASE_METHOD(Settling, "fail counts the attempt and sets the next one", "[settle]") {
  const Event claimed = held();
  CHECK(fail(claimed, now() + 5min, "no answer") == SettleStatus::applied);
  Event expected = unlocked(claimed);
  expected.publish_status = Status::failed;
  expected.retry_count = 1;
  expected.next_retry_time = now() + 5min;
  expected.fail_reason = "no answer";
  CHECK(get("E1") == expected);
  CHECK_FALSE(is_dead(get("E1")));
}

TEST_CASE_METHOD(Settling, "fail without a next time is final", "[settle]") {
  fail(held(), std::nullopt);
  CHECK(is_dead(get("E1")));
  CHECK(get("E1").retry_count == 1);
}

TEST_CASE_METHOD(Settling, "the last allowed failure is final whatever time is given", "[settle]") {
  fail(held(2), now());
  CHECK_FALSE(is_dead(get("E1")));
  fail(claim_one("E1"), now());
  const Event event = get("E1");
  CHECK(is_dead(event));
  CHECK(event.retry_count == 2);
  CHECK_FALSE(event.next_retry_time.has_value());
}

TEST_CASE_METHOD(Settling, "an event without a budget does not stick in progress", "[settle]") {
  CHECK(fail(held(0), now()) == SettleStatus::applied);
  CHECK(status_of("E1") == Status::failed);
  CHECK(is_dead(get("E1")));
}

TEST_CASE_METHOD(Settling, "reject is final at once", "[settle]") {
  const Event claimed = held();
  CHECK(reject(claimed, "410 Gone") == SettleStatus::applied);
  Event expected = unlocked(claimed);
  expected.publish_status = Status::failed;
  expected.retry_count = 1;
  expected.fail_reason = "410 Gone";
  CHECK(get("E1") == expected);
  CHECK(is_dead(get("E1")));
}

TEST_CASE_METHOD(Settling, "release gives the event back without counting", "[settle]") {
  const Event claimed = held();
  std::optional<Timestamp> due;
  SECTION("due at once") {}
  SECTION("due later") { due = now() + 1min; }
  CHECK(release(claimed, due) == SettleStatus::applied);
  Event expected = unlocked(claimed);
  expected.publish_status = Status::pending;
  expected.next_retry_time = due;
  CHECK(get("E1") == expected);
}

TEST_CASE_METHOD(Settling, "release keeps what is known of earlier failures", "[settle]") {
  fail(held(), now(), "first trouble");
  release(claim_one("E1"));
  CHECK(get("E1").retry_count == 1);
  CHECK(get("E1").fail_reason == "first trouble");
  CHECK_FALSE(get("E1").next_retry_time.has_value());
}

TEST_CASE_METHOD(Settling, "a reason is kept to 1000 characters", "[settle]") {
  std::string reason;
  for (int i = 0; i < 1200; ++i) reason += "é";
  reject(held(), reason);
  CHECK(get("E1").fail_reason == reason.substr(0, 2000));
}

TEST_CASE_METHOD(Settling, "bytes that are not UTF-8 do not get in through a reason", "[settle]") {
  reject(held(), "bad \xff\xfe byte");
  const std::string stored = get("E1").fail_reason.value_or("");
  CHECK(utf8_length(stored).has_value());
  CHECK(stored == clip_reason("bad \xff\xfe byte"));
}

TEST_CASE_METHOD(Settling, "a token that is no longer valid changes nothing", "[settle][fencing]") {
  const Event claimed = held();
  Settlement stale = settlement(claimed, Command::succeed);
  SECTION("another owner") { stale.token.owner = "somebody"; }
  SECTION("no owner") { stale.token.owner.clear(); }
  SECTION("an old version") {
    release(claimed);
    REQUIRE(claim_one("E1").version == claimed.version + 1);
  }
  SECTION("a version to come") { ++stale.token.version; }
  SECTION("an unknown event") { stale.token.id += 1000; }
  SECTION("settled already") { succeed(claimed); }
  SECTION("given back") { release(claimed); }
  SECTION("recovered by somebody else") {
    clock().advance(1h);
    REQUIRE(settle(settlement(claimed, Command::expire, "lease expired")) == SettleStatus::applied);
  }
  SECTION("archived, or purged") {
    succeed(claimed);
    clock().advance(1s);
    if (has_archive()) REQUIRE(store->archive(now(), 1) == 1);
  }
  const Event before = get("E1");
  clock().advance(1s);
  for (const Command command : {Command::succeed, Command::fail, Command::reject, Command::release, Command::expire}) {
    INFO("command " << to_string(command));
    stale.command = command;
    CHECK(settle(stale) == SettleStatus::fenced);
    CHECK(get("E1") == before);
  }
}

TEST_CASE_METHOD(Settling, "a fenced settlement does not disturb the others", "[settle][fencing]") {
  append({"E1", "E2", "E3"});
  const auto held = claim();
  Settlement stale = settlement(held[1], Command::succeed);
  stale.token.owner = "somebody";
  const std::vector<Settlement> batch{settlement(held[0], Command::succeed), stale,
                                      settlement(held[2], Command::reject, "no"),
                                      settlement(held[0], Command::succeed)};
  using S = SettleStatus;
  CHECK(store->settle(batch) == std::vector<S>{S::applied, S::fenced, S::applied, S::fenced});
  CHECK(status_of("E1") == Status::succeeded);
  CHECK(status_of("E2") == Status::in_progress);
  CHECK(status_of("E3") == Status::failed);
}

TEST_CASE_METHOD(Settling, "an expired lease that nobody recovered still settles", "[settle][fencing]") {
  const Event claimed = held();
  clock().advance(1h);
  CHECK(succeed(claimed) == SettleStatus::applied);
}

TEST_CASE_METHOD(Settling, "another connection may settle with the token", "[settle]") {
  const Event claimed = held();
  const auto other = database->open();
  const Settlement done = settlement(claimed, Command::succeed);
  CHECK(other->settle({&done, 1}).front() == SettleStatus::applied);
  CHECK(status_of("E1") == Status::succeeded);
}

TEST_CASE_METHOD(Settling, "expire needs a lease that ran out", "[settle]") {
  const Event claimed = held();  // a second into the lease of 30
  Settlement expire = settlement(claimed, Command::expire, "lease expired");
  expire.next_retry_time = now() + 1h;
  clock().set(*claimed.lock_until - 1us);
  CHECK(settle(expire) == SettleStatus::fenced);
  CHECK(get("E1") == claimed);
  clock().advance(1us);
  CHECK(settle(expire) == SettleStatus::applied);
  Event expected = unlocked(claimed);
  expected.publish_status = Status::failed;
  expected.retry_count = 1;
  expected.fail_reason = "lease expired";
  expected.next_retry_time = expire.next_retry_time;
  CHECK(get("E1") == expected);
}

TEST_CASE_METHOD(Settling, "expire uses up the budget as fail does", "[settle]") {
  const Event claimed = held(1);
  clock().advance(1h);
  Settlement expire = settlement(claimed, Command::expire, "lease expired");
  expire.next_retry_time = now();
  settle(expire);
  CHECK(is_dead(get("E1")));
}

TEST_CASE_METHOD(Settling, "cancel_if_dead cancels what the settlement made dead, and only that", "[settle]") {
  Settlement settled = settlement(held(2), Command::fail, "boom");
  settled.cancel_if_dead = true;
  Status expected = Status::cancelled;
  SECTION("rejected") { settled.command = Command::reject; }
  SECTION("no next time") {}
  SECTION("budget used up") {
    settled.next_retry_time = now();
    settle(settled);
    REQUIRE(status_of("E1") == Status::failed);
    settled.token = token_of(claim_one("E1"));
  }
  SECTION("retried") {
    settled.next_retry_time = now();
    expected = Status::failed;
  }
  SECTION("released") {
    settled.command = Command::release;
    expected = Status::pending;
  }
  SECTION("succeeded") {
    settled.command = Command::succeed;
    expected = Status::succeeded;
  }
  CHECK(settle(settled) == SettleStatus::applied);
  const Event event = get("E1");
  CHECK(event.publish_status == expected);
  if (expected == Status::cancelled || expected == Status::failed) CHECK(event.fail_reason == "boom");
  CHECK_FALSE(event.locked_by.has_value());
}

TEST_CASE_METHOD(Settling, "only what ends a claim is a settlement", "[settle]") {
  const Event claimed = held();
  for (const Command command : {Command::claim, Command::requeue, Command::cancel}) {
    const std::vector<Settlement> batch{settlement(claimed, Command::succeed), settlement(claimed, command)};
    CHECK_THROWS_AS(store->settle(batch), StorageError);
    CHECK(get("E1") == claimed);
  }
}

TEST_CASE_METHOD(Settling, "exchange settles first, then claims", "[settle][exchange]") {
  for (const char* number : {"A1", "A2", "A3"}) append(make_event(number, "A"));
  append({"B1"});
  const auto first = store->claim(ordered_request(2)).events;
  REQUIRE(numbers_of(first) == Numbers{"A1", "A2"});
  const std::vector<Settlement> batch{settlement(first[0], Command::succeed), settlement(first[1], Command::release)};
  const ExchangeResult result = store->exchange(batch, ordered_request());
  CHECK(result.settled == std::vector<SettleStatus>{SettleStatus::applied, SettleStatus::applied});
  CHECK(numbers_of(result.claimed.events) == Numbers{"A2", "A3", "B1"});
  CHECK(status_of("A1") == Status::succeeded);
  CHECK(get("A2") == result.claimed.events.front());
}

TEST_CASE_METHOD(Settling, "exchange reports the fenced and the next time", "[settle][exchange]") {
  const Event claimed = held();
  Settlement stale = settlement(claimed, Command::succeed);
  stale.token.owner = "somebody";
  append_many("S", 1, 1, now() + 1min);
  const ExchangeResult result = store->exchange({&stale, 1}, claim_request());
  CHECK(result.settled == std::vector<SettleStatus>{SettleStatus::fenced});
  CHECK(result.claimed.events.empty());
  CHECK(result.claimed.next_due == now() + 1min);
  const ExchangeResult nothing = store->exchange({}, claim_request());
  CHECK(nothing.settled.empty());
}

TEST_CASE_METHOD(Settling, "an exchange that can't claim settles nothing", "[settle][exchange]") {
  const Event claimed = held();
  const Settlement done = settlement(claimed, Command::succeed);
  ClaimRequest request = claim_request();
  request.owner.clear();
  CHECK_THROWS_AS(store->exchange({&done, 1}, request), StorageError);
  CHECK(get("E1") == claimed);
}

TEST_CASE_METHOD(Settling, "of many successes only the fenced ones change nothing, and each is named",
                 "[settle][fence]") {
  append_many("E", 1, 8);
  std::vector<Settlement> settlements;
  for (const Event& event : store->claim(claim_request(8)).events)
    settlements.push_back(settlement(event, Command::succeed));
  REQUIRE(settlements.size() == 8);
  settlements[2].token.version += 1;
  settlements[5].token.owner = "somebody else";
  settlements.push_back(settlements[7]);  // the same again
  ClaimRequest more = claim_request(8);
  const std::vector<SettleStatus> statuses = store->exchange(settlements, more).settled;
  REQUIRE(statuses.size() == 9);
  for (std::size_t at = 0; at < statuses.size(); ++at) {
    INFO(at);
    const bool fenced = at == 2 || at == 5 || at == 8;
    CHECK(statuses[at] == (fenced ? SettleStatus::fenced : SettleStatus::applied));
    if (at < 8) CHECK(status_of("E" + std::to_string(at + 1)) == (fenced ? Status::in_progress : Status::succeeded));
  }
}

}  // namespace
}  // namespace waybill::test
