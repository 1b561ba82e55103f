#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

Settlement expire(const Token& token, std::optional<Timestamp> next) {
  Settlement settlement;
  settlement.token = token;
  settlement.command = Command::expire;
  settlement.next_retry_time = next;
  settlement.reason = "lease expired";
  return settlement;
}

TEST_CASE_METHOD(Contract, "extend moves the lease's end and nothing else", "[lease]") {
  const Event claimed = add_in(Status::in_progress, "E1");
  clock().advance(20s);
  const Token token = token_of(claimed);
  CHECK(store->extend({&token, 1}, 45s) == std::vector<SettleStatus>{SettleStatus::applied});
  Event expected = claimed;
  expected.lock_until = now() + 45s;
  expected.update_time = now();
  CHECK(get("E1") == expected);
  CHECK(succeed(claimed) == SettleStatus::applied);  // the token stays the same
}

TEST_CASE_METHOD(Contract, "a stale token extends nothing", "[lease][fencing]") {
  const Event claimed = add_in(Status::in_progress, "E1");
  Token stale = token_of(claimed);
  SECTION("another owner") { stale.owner = "somebody"; }
  SECTION("another version") { --stale.version; }
  SECTION("unknown event") { stale.id += 77; }
  SECTION("settled") { succeed(claimed); }
  SECTION("claimed again") {
    release(claimed);
    claim_one("E1");
  }
  const Event before = get("E1");
  clock().advance(1s);
  CHECK(store->extend({&stale, 1}, 45s) == std::vector<SettleStatus>{SettleStatus::fenced});
  CHECK(get("E1") == before);
}

TEST_CASE_METHOD(Contract, "extend answers for each token", "[lease]") {
  append({"E1", "E2", "E3"});
  const auto held = claim();
  succeed(held[1]);
  const std::vector<Token> tokens{token_of(held[0]), token_of(held[1]), token_of(held[2])};
  using S = SettleStatus;
  CHECK(store->extend(tokens, 1h) == std::vector<S>{S::applied, S::fenced, S::applied});
  CHECK(store->extend({}, 1h).empty());
  CHECK(get("E3").lock_until == now() + 1h);
}

TEST_CASE_METHOD(Contract, "an expired lease that nobody recovered is extended", "[lease]") {
  const Event claimed = add_in(Status::in_progress, "E1");
  clock().advance(1h);
  const Token token = token_of(claimed);
  CHECK(store->extend({&token, 1}, 30s).front() == SettleStatus::applied);
  CHECK(store->expired(10).empty());
  CHECK(settle(expire(token, now())) == SettleStatus::fenced);
}

TEST_CASE_METHOD(Contract, "expired lists the leases that ran out, longest first", "[lease]") {
  append({"E1", "E2", "E3", "E4"});
  const auto held = claim();
  const std::vector<Token> tokens{token_of(held[0]), token_of(held[1]), token_of(held[2]), token_of(held[3])};
  (void)store->extend({&tokens[0], 1}, 40s);
  (void)store->extend({&tokens[1], 1}, 20s);
  (void)store->extend({&tokens[2], 1}, 20s);
  (void)store->extend({&tokens[3], 1}, 60s);

  clock().advance(20s - 1us);
  CHECK(store->expired(10).empty());
  clock().advance(1us);
  CHECK(store->expired(10).size() == 2);
  clock().advance(20s);
  const auto expired = store->expired(10);
  REQUIRE(expired.size() == 3);
  CHECK(expired[0].token == tokens[1]);
  CHECK(expired[1].token == tokens[2]);
  CHECK(expired[2].token == tokens[0]);
  CHECK(store->expired(1).size() == 1);
  CHECK(store->expired(1).front().token == tokens[1]);
}

TEST_CASE_METHOD(Contract, "an expired lease says what recovery needs to know", "[lease]") {
  NewEvent event = make_event("E1");
  event.event_type = "PAY_SUCCESS";
  event.max_retry_count = 9;
  append(event);
  fail(claim_one("E1"), now());
  const Event claimed = claim_one("E1");
  clock().advance(1h);
  const auto expired = store->expired(10);
  REQUIRE(expired.size() == 1);
  CHECK(expired.front().token == token_of(claimed));
  CHECK(expired.front().event_type == "PAY_SUCCESS");
  CHECK(expired.front().retry_count == 1);
  CHECK(expired.front().max_retry_count == 9);
}

TEST_CASE_METHOD(Contract, "a crashed owner's event moves again and fences the owner", "[lease][fencing]") {
  const Event lost = add_in(Status::in_progress, "E1");
  clock().advance(1min);
  const auto recovery = database->open();
  const auto expired = recovery->expired(10);
  REQUIRE(expired.size() == 1);
  const Settlement recovered = expire(expired.front().token, now());
  REQUIRE(recovery->settle({&recovered, 1}).front() == SettleStatus::applied);
  const auto again = recovery->claim(claim_request(10, "relay-b")).events;
  REQUIRE(numbers_of(again) == Numbers{"E1"});

  CHECK(succeed(lost) == SettleStatus::fenced);
  const Token token = token_of(lost);
  CHECK(store->extend({&token, 1}, 1h).front() == SettleStatus::fenced);
  CHECK(get("E1") == again.front());
}

}  // namespace
}  // namespace waybill::test
