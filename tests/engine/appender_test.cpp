#include "waybill/appender.hpp"

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "engine/engine_fixture.hpp"
#include "support/forwarding_repository.hpp"

namespace waybill::test {
namespace {

/// Counts transactions; the first one waits until it is let go.
class GatedRepository final : public ForwardingRepository {
 public:
  using ForwardingRepository::ForwardingRepository;
  std::latch entered{1};
  std::latch go{1};
  std::atomic<int> transactions{0};
  bool full{false};

  std::vector<AppendResult> append(std::span<const NewEvent> events) override {
    if (++transactions == 1) {
      entered.count_down();
      go.wait();
    }
    if (full) throw StorageError(ErrorCode::full, "no room");
    return inner_->append(events);
  }
};

TEST_CASE_METHOD(Engine, "what comes while a transaction commits goes into the next one together") {
  auto owned = std::make_unique<GatedRepository>(make_memory_repository(database));
  GatedRepository& gate = *owned;
  Appender appender(std::move(owned));
  std::vector<std::future<AppendResult>> results;
  results.push_back(appender.submit(make_event("first")));
  gate.entered.wait();
  for (int number = 0; number < 20; ++number) results.push_back(appender.submit(make_event(std::to_string(number))));
  gate.go.count_down();
  for (auto& result : results) REQUIRE(result.get().status == AppendStatus::inserted);
  REQUIRE(gate.transactions == 2);
}

TEST_CASE_METHOD(Engine, "each caller gets the answer for its own event") {
  Appender appender(make_memory_repository(database));
  REQUIRE(appender.append(make_event("a")).status == AppendStatus::inserted);
  REQUIRE(appender.append(make_event("a")).status == AppendStatus::duplicate);
  NewEvent other = make_event("a");
  other.event_payload = "[1]";
  const AppendResult conflict = appender.append(other);
  REQUIRE(conflict.status == AppendStatus::conflict);
  REQUIRE(conflict.difference == "event_payload");
}

TEST_CASE_METHOD(Engine, "an event that breaks a limit does not touch the others of its group") {
  Appender appender(make_memory_repository(database));
  NewEvent bad = make_event("bad");
  bad.event_payload = "{";
  auto good = appender.submit(make_event("good"));
  REQUIRE_THROWS_AS(appender.append(bad), InvalidEvent);
  REQUIRE(good.get().status == AppendStatus::inserted);
}

TEST_CASE_METHOD(Engine, "a failed transaction is told to everyone in it") {
  auto owned = std::make_unique<GatedRepository>(make_memory_repository(database));
  GatedRepository& gate = *owned;
  gate.full = true;
  gate.go.count_down();
  Appender appender(std::move(owned));
  auto first = appender.submit(make_event("a"));
  auto second = appender.submit(make_event("b"));
  REQUIRE_THROWS_AS(first.get(), StorageError);
  REQUIRE_THROWS_AS(second.get(), StorageError);
  REQUIRE(store->stats({}).of(Status::pending) == 0);
}

TEST_CASE_METHOD(Engine, "the end of an appender writes what is queued") {
  auto owned = std::make_unique<GatedRepository>(make_memory_repository(database));
  owned->go.count_down();
  std::vector<std::future<AppendResult>> results;
  {
    Appender appender(std::move(owned), AppenderOptions{7, 10000, Duration{0}, {}});
    for (int number = 0; number < 100; ++number) results.push_back(appender.submit(make_event(std::to_string(number))));
  }
  for (auto& result : results) REQUIRE(result.get().status == AppendStatus::inserted);
  REQUIRE(store->stats({}).of(Status::pending) == 100);
}

TEST_CASE_METHOD(Engine, "many threads, a short queue and a linger lose nothing") {
  Appender appender(make_memory_repository(database), AppenderOptions{16, 4, 1ms, {}});
  std::vector<std::thread> producers;
  std::atomic<int> inserted{0};
  for (int producer = 0; producer < 8; ++producer)
    producers.emplace_back([&appender, &inserted, producer] {
      for (int number = 0; number < 50; ++number)
        if (appender.append(make_event(std::to_string(producer) + ":" + std::to_string(number))).status ==
            AppendStatus::inserted)
          ++inserted;
    });
  for (std::thread& producer : producers) producer.join();
  REQUIRE(inserted == 400);
  REQUIRE(store->stats({}).of(Status::pending) == 400);
}

}  // namespace
}  // namespace waybill::test
