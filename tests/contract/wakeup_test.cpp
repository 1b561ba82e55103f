// wait_for_work is a hint with real time in it: every test has a deadline far above what a sound store needs.

#include <future>
#include <thread>

#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Duration kDeadline = 20s;  ///< "at once" on a machine with much else to do

class Waking : public Contract {
 protected:
  /// The store has seen all there is.
  void look() {
    for (const Event& event : claim()) succeed(event);
    REQUIRE(claim().empty());
  }

  /// True when a long wait comes back before its end.
  static bool comes_back(IEventRepository& repository) {
    const auto begin = Clock::now();
    repository.wait_for_work(kDeadline);
    return Clock::now() - begin < kDeadline;
  }

  /// Waits in another thread while this one makes `change`; true when that ended the wait.
  template <class Change>
  bool ends_wait(Change change) {
    std::promise<void> started;
    auto waiter = std::async(std::launch::async, [&] {
      started.set_value();
      return store->wait_for_work(1h);
    });
    started.get_future().wait();
    change();
    const bool ended = waiter.wait_for(kDeadline) == std::future_status::ready;
    if (!ended) store->wake();  // let the thread go
    return ended;
  }
};

TEST_CASE_METHOD(Waking, "a wait with nothing new ends by its timeout", "[wakeup]") {
  append({"E1"});
  look();
  bool quiet = false;
  for (int i = 0; i < 10 && !quiet; ++i) quiet = !store->wait_for_work(20ms);
  CHECK(quiet);
  CHECK_FALSE(store->wait_for_work(0ms));
}

TEST_CASE_METHOD(Waking, "work that came before the wait ends it at once", "[wakeup]") {
  append({"E1"});
  look();
  const auto other = database->open();
  const NewEvent event = make_event("E2");
  SECTION("of this connection") { append(event); }
  SECTION("of another one") { (void)other->append({&event, 1}); }
  CHECK(comes_back(*store));
}

TEST_CASE_METHOD(Waking, "an append elsewhere ends a running wait", "[wakeup]") {
  look();
  const auto other = database->open();
  CHECK(ends_wait([&] {
    const NewEvent event = make_event("E1");
    (void)other->append({&event, 1});
  }));
  CHECK(numbers_of(claim()) == Numbers{"E1"});
}

TEST_CASE_METHOD(Waking, "whatever makes an event claimable ends a running wait", "[wakeup]") {
  const auto other = database->open();
  add_dead("E1");
  const Event held = add_in(Status::in_progress, "E2");
  CHECK(claim().empty());
  Settlement given_back;
  given_back.token = token_of(held);
  SECTION("release") {
    given_back.command = Command::release;
    CHECK(ends_wait([&] { (void)other->settle({&given_back, 1}); }));
  }
  SECTION("fail") {
    given_back.command = Command::fail;
    given_back.next_retry_time = now();
    CHECK(ends_wait([&] { (void)other->settle({&given_back, 1}); }));
  }
  SECTION("requeue") {
    CHECK(ends_wait([&] { (void)other->requeue({}, 10); }));
  }
  SECTION("cancel") {
    CHECK(ends_wait([&] { (void)other->cancel({}, "", 10); }));
  }
}

TEST_CASE_METHOD(Waking, "wake ends a running wait", "[wakeup]") {
  look();
  CHECK(ends_wait([&] { store->wake(); }));
}

TEST_CASE_METHOD(Waking, "wake ends the next wait, and only that", "[wakeup]") {
  look();
  store->wake();
  store->wake();
  CHECK(comes_back(*store));
  bool quiet = false;
  for (int i = 0; i < 10 && !quiet; ++i) quiet = !store->wait_for_work(20ms);
  CHECK(quiet);
}

TEST_CASE_METHOD(Waking, "each connection is woken by its own wake only", "[wakeup]") {
  look();
  const auto other = database->open();
  REQUIRE(other->claim(claim_request()).events.empty());
  other->wake();
  bool quiet = false;
  for (int i = 0; i < 10 && !quiet; ++i) quiet = !store->wait_for_work(20ms);
  CHECK(quiet);
  CHECK(comes_back(*other));
}

TEST_CASE_METHOD(Waking, "two idle claimers do not wake each other for ever", "[wakeup]") {
  look();
  const auto other = database->open();
  int quiet = 0;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(claim().empty());
    REQUIRE(other->claim(claim_request()).events.empty());
    quiet += !store->wait_for_work(5ms) && !other->wait_for_work(5ms);
  }
  CHECK(quiet > 0);
}

TEST_CASE_METHOD(Waking, "events of many threads all arrive", "[wakeup]") {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  std::vector<std::thread> producers;
  std::vector<std::unique_ptr<IEventRepository>> repositories;
  for (int t = 0; t < kThreads; ++t) repositories.push_back(database->open());
  for (int t = 0; t < kThreads; ++t)
    producers.emplace_back([&repository = *repositories[static_cast<std::size_t>(t)], t] {
      for (int i = 0; i < kEach; ++i) {
        const NewEvent event = make_event("T" + std::to_string(t) + "-" + std::to_string(i));
        (void)repository.append({&event, 1});
      }
    });
  std::size_t delivered = 0;
  const auto end = Clock::now() + kDeadline;
  while (delivered < kThreads * kEach && Clock::now() < end) {
    for (const Event& event : claim(7)) delivered += succeed(event) == SettleStatus::applied;
    if (delivered < kThreads * kEach) store->wait_for_work(1s);
  }
  for (std::thread& producer : producers) producer.join();
  CHECK(delivered == kThreads * kEach);
  CHECK(store->stats({}).of(Status::succeeded) == kThreads * kEach);
}

}  // namespace
}  // namespace waybill::test
