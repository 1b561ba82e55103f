#include "waybill/lifecycle.hpp"

#include <map>

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/limits.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow{1'780'000'000s};

/// DESIGN §2, written down a second time.
const std::map<Command, std::pair<std::vector<Status>, Status>> kExpected{
    {Command::claim, {{Status::pending, Status::failed}, Status::in_progress}},
    {Command::succeed, {{Status::in_progress}, Status::succeeded}},
    {Command::fail, {{Status::in_progress}, Status::failed}},
    {Command::reject, {{Status::in_progress}, Status::failed}},
    {Command::release, {{Status::in_progress}, Status::pending}},
    {Command::expire, {{Status::in_progress}, Status::failed}},
    {Command::requeue, {{Status::failed}, Status::pending}},
    {Command::cancel, {{Status::pending, Status::failed}, Status::cancelled}},
};

/// A state of that status that every guard but the status lets through.
DeliveryState ready(Status status) {
  DeliveryState state;
  state.publish_status = status;
  state.version = 4;
  state.retry_count = 1;
  state.next_retry_time = kNow;
  if (status == Status::in_progress) {
    state.locked_by = "me";
    state.lock_until = kNow;
  }
  return state;
}

CommandInput command(Command what) {
  CommandInput input;
  input.command = what;
  input.now = kNow;
  input.owner = "me";
  input.version = 4;
  input.lease = 30s;
  input.next_retry_time = kNow + 60s;
  input.reason = "because";
  return input;
}

TEST_CASE("each command leads from its states to its state and from no other") {
  for (const auto& [what, row] : kExpected) {
    for (const Status from : kAllStatuses) {
      CAPTURE(what, from);
      DeliveryState state = ready(from);
      const DeliveryState before = state;
      const bool allowed = std::find(row.first.begin(), row.first.end(), from) != row.first.end();
      CHECK(apply(state, command(what)) == allowed);
      CHECK(transition(what).from.contains(from) == allowed);
      if (allowed)
        CHECK(state.publish_status == row.second);
      else
        CHECK(state == before);
    }
    CHECK(transition(what).to == row.second);
    CHECK(transition(what).command == what);
  }
}

TEST_CASE("only succeeded and cancelled are final") {
  for (const Status status : kAllStatuses) {
    CAPTURE(status);
    CHECK(is_final(status) == (status == Status::succeeded || status == Status::cancelled));
  }
}

TEST_CASE("claim takes the next version, the owner and a lease") {
  DeliveryState state = ready(Status::failed);
  DeliveryState expected = state;
  expected.publish_status = Status::in_progress;
  expected.version = 5;
  expected.locked_by = "me";
  expected.lock_until = kNow + 30s;
  expected.last_publish_time = kNow;
  REQUIRE(apply(state, command(Command::claim)));
  CHECK(state == expected);
}

TEST_CASE("claim needs a due event") {
  DeliveryState state = ready(Status::pending);
  state.next_retry_time = kNow + 1us;
  CHECK_FALSE(apply(state, command(Command::claim)));
  state.next_retry_time = kNow;
  CHECK(apply(state, command(Command::claim)));
}

TEST_CASE("dead events are not claimed") {
  DeliveryState used_up = ready(Status::failed);
  used_up.retry_count = used_up.max_retry_count;
  CHECK(is_dead(used_up));
  CHECK_FALSE(apply(used_up, command(Command::claim)));
  DeliveryState without_time = ready(Status::failed);
  without_time.next_retry_time.reset();
  CHECK(is_dead(without_time));
  CHECK_FALSE(apply(without_time, command(Command::claim)));
}

TEST_CASE("succeed clears reason and lock and keeps the rest") {
  DeliveryState state = ready(Status::in_progress);
  state.fail_reason = "earlier";
  DeliveryState expected = state;
  expected.publish_status = Status::succeeded;
  expected.published_time = kNow;
  expected.fail_reason.reset();
  expected.locked_by.reset();
  expected.lock_until.reset();
  REQUIRE(apply(state, command(Command::succeed)));
  CHECK(state == expected);
}

TEST_CASE("fail counts, waits and says why") {
  DeliveryState state = ready(Status::in_progress);
  DeliveryState expected = state;
  expected.publish_status = Status::failed;
  expected.retry_count = 2;
  expected.next_retry_time = kNow + 60s;
  expected.fail_reason = "because";
  expected.locked_by.reset();
  expected.lock_until.reset();
  REQUIRE(apply(state, command(Command::fail)));
  CHECK(state == expected);
}

TEST_CASE("the last allowed failure leaves a dead event without a next time") {
  DeliveryState state = ready(Status::in_progress);
  state.retry_count = state.max_retry_count - 1;
  REQUIRE(apply(state, command(Command::fail)));
  CHECK(is_dead(state));
  CHECK(state.retry_count == state.max_retry_count);
  CHECK_FALSE(state.next_retry_time.has_value());
}

TEST_CASE("reject is dead at once") {
  DeliveryState state = ready(Status::in_progress);
  REQUIRE(apply(state, command(Command::reject)));
  CHECK(is_dead(state));
  CHECK(state.retry_count == 2);
  CHECK(state.fail_reason == "because");
}

TEST_CASE("release counts no attempt and says when") {
  DeliveryState state = ready(Status::in_progress);
  state.fail_reason = "earlier";
  DeliveryState expected = state;
  expected.publish_status = Status::pending;
  expected.next_retry_time = kNow + 60s;
  expected.locked_by.reset();
  expected.lock_until.reset();
  REQUIRE(apply(state, command(Command::release)));
  CHECK(state == expected);
  DeliveryState at_once = ready(Status::in_progress);
  CommandInput input = command(Command::release);
  input.next_retry_time.reset();
  REQUIRE(apply(at_once, input));
  CHECK_FALSE(at_once.next_retry_time.has_value());
}

TEST_CASE("expire waits for the end of the lease") {
  DeliveryState state = ready(Status::in_progress);
  state.lock_until = kNow + 1us;
  CHECK_FALSE(apply(state, command(Command::expire)));
  state.lock_until = kNow;
  CHECK(apply(state, command(Command::expire)));
  CHECK(state.retry_count == 2);
}

TEST_CASE("requeue gives a fresh budget and keeps the reason") {
  DeliveryState state = ready(Status::failed);
  state.retry_count = state.max_retry_count;
  state.next_retry_time.reset();
  state.fail_reason = "earlier";
  REQUIRE(apply(state, command(Command::requeue)));
  CHECK(state.publish_status == Status::pending);
  CHECK(state.retry_count == 0);
  CHECK(state.next_retry_time == kNow);
  CHECK(state.fail_reason == "earlier");
}

TEST_CASE("cancel only sets the reason") {
  DeliveryState state = ready(Status::failed);
  DeliveryState expected = state;
  expected.publish_status = Status::cancelled;
  expected.fail_reason = "because";
  REQUIRE(apply(state, command(Command::cancel)));
  CHECK(state == expected);
}

TEST_CASE("a stale token changes nothing") {
  for (const Command what : {Command::succeed, Command::fail, Command::reject, Command::release, Command::expire}) {
    CAPTURE(what);
    DeliveryState state = ready(Status::in_progress);
    const DeliveryState before = state;
    CommandInput old = command(what);
    old.version = 3;
    CHECK_FALSE(apply(state, old));
    CommandInput stranger = command(what);
    stranger.owner = "somebody else";
    CHECK_FALSE(apply(state, stranger));
    CHECK(state == before);
  }
}

TEST_CASE("counters at their end do not overflow") {
  DeliveryState state = ready(Status::pending);
  state.version = std::numeric_limits<std::int32_t>::max();
  CHECK_FALSE(apply(state, command(Command::claim)));
  DeliveryState tried = ready(Status::in_progress);
  tried.retry_count = tried.max_retry_count = std::numeric_limits<std::int32_t>::max();
  CHECK(apply(tried, command(Command::fail)));
  CHECK(tried.retry_count == std::numeric_limits<std::int32_t>::max());
}

/// A random command: half of the fenced ones by the present holder.
CommandInput any_command(const DeliveryState& state, Timestamp now) {
  CommandInput input;
  input.command = *rc::gen::elementOf(std::vector<Command>{kAllCommands.begin(), kAllCommands.end()});
  input.now = now;
  input.owner = *rc::gen::element<std::string>("a", "b");
  input.version = *rc::gen::inRange(0, 4);
  if (input.command != Command::claim && *rc::gen::arbitrary<bool>()) {
    input.owner = state.locked_by.value_or("");
    input.version = state.version;
  }
  input.lease = Duration{*rc::gen::inRange(0, 100)};
  if (*rc::gen::inRange(0, 4) != 0) input.next_retry_time = now + Duration{*rc::gen::inRange(-50, 50)};
  input.reason = *any_text(0, 5);
  return input;
}

/// What must hold between any state and the next one.
void check_step(const DeliveryState& before, const CommandInput& input, const DeliveryState& after, bool applied) {
  if (!applied) RC_ASSERT(after == before);
  if (is_final(before.publish_status)) RC_ASSERT(!applied);
  if (applied) RC_ASSERT(after.publish_status == transition(input.command).to);
  RC_ASSERT(after.version == before.version + (applied && input.command == Command::claim ? 1 : 0));
  if (applied && input.command == Command::requeue)
    RC_ASSERT(after.retry_count == 0);
  else
    RC_ASSERT(after.retry_count == before.retry_count || after.retry_count == before.retry_count + 1);
  if (is_dead(before)) RC_ASSERT(!applied || input.command != Command::claim);
  RC_ASSERT((after.publish_status == Status::in_progress) == after.locked_by.has_value());
  RC_ASSERT((after.publish_status == Status::in_progress) == after.lock_until.has_value());
  RC_ASSERT(after.retry_count <= std::max(after.max_retry_count, 1));
  RC_ASSERT(after.max_retry_count == before.max_retry_count);
}

TEST_CASE("no sequence of commands breaks the rules of a life") {
  check_property(
      "final is final, version never falls, in progress exactly when locked, retries rise but by requeue, dead is not "
      "claimed",
      [] {
        DeliveryState state;
        state.max_retry_count = *rc::gen::inRange(0, 4);
        Timestamp now = kNow;
        const int steps = *rc::gen::inRange(0, 60);
        int applied_steps = 0;
        for (int step = 0; step < steps; ++step) {
          now += Duration{*rc::gen::inRange(-20, 60)};
          const CommandInput input = any_command(state, now);
          const DeliveryState before = state;
          const bool applied = apply(state, input);
          check_step(before, input, state, applied);
          if (applied) ++applied_steps;
        }
        RC_CLASSIFY(applied_steps > 5, "more than five steps");
      },
      10);
}

TEST_CASE("a zero budget never sticks") {
  check_property(
      "with max_retry_count 0 every ending of a claim but success and release is dead, none stays in progress", [] {
        DeliveryState state;
        state.max_retry_count = 0;
        CommandInput input = command(Command::claim);
        REQUIRE(apply(state, input));
        input.command =
            *rc::gen::element(Command::succeed, Command::fail, Command::reject, Command::release, Command::expire);
        input.version = state.version;
        input.now = kNow + 31s;
        RC_ASSERT(apply(state, input));
        RC_ASSERT(state.publish_status != Status::in_progress);
        RC_ASSERT(is_dead(state) == (transition(input.command).to == Status::failed));
      });
}

TEST_CASE("a reason is kept as valid text of at most 1000 characters") {
  CHECK(clip_reason("plain") == "plain");
  CHECK(clip_reason(std::string(1001, 'x')) == std::string(1000, 'x'));
  CHECK(clip_reason("a\xFF"
                    "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(clip_reason(std::string_view{"a\0b", 3}) ==
        "a\xEF\xBF\xBD"
        "b");
  check_property("clip_reason gives valid UTF-8 of at most 1000 characters and changes nothing that is so already", [] {
    const std::string given = *rc::gen::oneOf(any_bytes(), any_text(0, 1200));
    const std::string kept = clip_reason(given);
    const std::optional<std::size_t> length = utf8_length(kept);
    RC_ASSERT(length.has_value());
    RC_ASSERT(*length <= 1000U);
    RC_ASSERT(kept.find('\0') == std::string::npos);
    RC_ASSERT(clip_reason(kept) == kept);
    if (utf8_length(given).value_or(1001) <= 1000 && given.find('\0') == std::string::npos) RC_ASSERT(kept == given);
  });
}

TEST_CASE("statuses and commands have the names of the documentation") {
  for (const Status status : kAllStatuses) CHECK(parse_status(to_string(status)) == status);
  CHECK(to_string(Status::in_progress) == "in_progress");
  CHECK_FALSE(parse_status("PENDING").has_value());
  CHECK_FALSE(parse_status("").has_value());
  CHECK(to_string(Command::requeue) == "requeue");
}

TEST_CASE("a set of statuses holds what was put in") {
  StatusSet set{Status::pending, Status::cancelled};
  CHECK(set.size() == 2);
  CHECK(set.contains(Status::cancelled));
  CHECK_FALSE(set.contains(Status::failed));
  set.insert(Status::failed);
  CHECK(set == StatusSet{Status::failed, Status::pending, Status::cancelled});
  CHECK(StatusSet{}.empty());
}

}  // namespace
}  // namespace waybill::test
