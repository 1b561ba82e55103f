// wait_for_work across processes. Each wait may last far longer than a sound store needs; the goal is looked at as the
// median of several, since a loaded machine may delay any single one.

#include <sqlite3.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <thread>

#include "backends/fault_vfs.hpp"
#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Duration kLong = 20s;

class WakeUps {
 protected:
  WakeUps() {
    file.options.clock = nullptr;  // the rows of other processes carry the machine's time
    store = file.create();
  }

  /// The store has seen all there is, and its next wait would be a long one.
  void look() {
    deliver_all(*store);
    for (int i = 0; i < 100; ++i) {
      if (!store->wait_for_work(0ms)) return;
      REQUIRE(store->claim(claim_request()).events.empty());
    }
    FAIL("the store never comes to rest");
  }
  /// Waits until event PLAINn can be claimed; how long after its commit began.
  Duration latency_of(int n) {
    const auto deadline = Clock::now() + kLong;
    while (Clock::now() < deadline) {
      (void)store->wait_for_work(kLong);
      const auto events = store->claim(claim_request()).events;
      if (events.empty()) continue;
      const Duration latency = SystemClock{}.now() - events.front().create_time;
      REQUIRE(events.front().event_no == "plain" + std::to_string(n));
      REQUIRE(succeed(*store, events.front()) == SettleStatus::applied);
      return latency;
    }
    FAIL("event " << n << " was not found");
    return kLong;
  }
  Process insert(int n) { return Process(helper({"insert", file.options.path, std::to_string(n), std::to_string(n)})); }
  Duration median_latency(int first, int count) {
    std::vector<Duration> latencies;
    for (int n = first; n < first + count; ++n) {
      look();
      const Process other = insert(n);
      latencies.push_back(latency_of(n));
    }
    std::sort(latencies.begin(), latencies.end());
    return latencies[latencies.size() / 2];
  }

  StoreFile file;
  std::unique_ptr<IEventRepository> store;
};

TEST_CASE_METHOD(WakeUps, "a commit of another process ends the wait within 100 ms") {
  CHECK(median_latency(1, 15) < 100ms);
}

TEST_CASE_METHOD(WakeUps, "it still does when the WAL was made anew") {
  SECTION("because a crashed program had left one") {
    append(*store, make_event("left"));
    // cp, not this process: closing a handle of ours would drop our locks.
    const std::string command = "cp store.db copy.db && cp store.db-wal copy.db-wal";
    ProcessOptions copy{"sh", {"-c", command}, file.folder(), {}, {}, {}, -1};
    REQUIRE(Process(copy).wait().exit_code == 0);
    file.options.path = (file.folder() / "copy.db").string();
    store = file.create();
  }
  SECTION("because the store was closed in between") {
    store.reset();
    store = file.open();
  }
  SECTION("because a checkpoint started it over") {
    file.options.checkpoint_pages = 100;
    store = file.open();
    append_many(*store, "E", 3000);
  }
  CHECK(median_latency(1, 7) < 100ms);
}

TEST_CASE_METHOD(WakeUps, "a commit of another process between claim and wait is not slept through") {
  for (int n = 1; n <= 5; ++n) {
    look();
    REQUIRE(insert(n).wait().exit_code == 0);
    const auto begin = Clock::now();
    CHECK(store->wait_for_work(kLong));
    CHECK(Clock::now() - begin < kLong / 2);
    CHECK(store->wait_for_work(kLong));  // nor by the next wait, as long as nobody has looked
    CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"plain" + std::to_string(n)});
  }
}

TEST_CASE_METHOD(WakeUps, "an idle store sleeps, whatever others read") {
  look();
  const auto reader = file.open();
  CHECK_FALSE(store->wait_for_work(50ms));
  (void)reader->stats({});
  (void)reader->query({}, {});
  CHECK_FALSE(store->wait_for_work(50ms));
}

TEST_CASE_METHOD(WakeUps, "a write that is rolled back wakes nobody for long") {
  look();
  SQLite::Database program = file.other_program();
  program.exec("PRAGMA cache_size = 5");
  program.exec("BEGIN IMMEDIATE");
  // More than its cache holds: SQLite writes into the WAL before any commit.
  program.exec("CREATE TABLE big (text TEXT)");
  for (int i = 0; i < 100; ++i) program.exec("INSERT INTO big VALUES (zeroblob(4096))");
  REQUIRE(file.wal_bytes() > 100'000);
  CHECK_FALSE(store->wait_for_work(20ms));
  program.exec("ROLLBACK");
  CHECK_FALSE(store->wait_for_work(20ms));
}

TEST_CASE_METHOD(WakeUps, "wake ends a wait that others' unfinished writes keep busy") {
  look();
  SQLite::Database program = file.other_program();
  program.exec("PRAGMA cache_size = 5");
  program.exec("BEGIN IMMEDIATE");
  program.exec("CREATE TABLE big (text TEXT)");
  auto waiter = std::async(std::launch::async, [&] { return store->wait_for_work(kLong); });
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 20'000 && !done; ++i) program.exec("INSERT INTO big VALUES (zeroblob(4096))");
  });
  REQUIRE(waiter.wait_for(30ms) == std::future_status::timeout);
  store->wake();
  const auto begin = Clock::now();
  CHECK(waiter.get());
  CHECK(Clock::now() - begin < 500ms);
  done = true;
  writer.join();
  program.exec("ROLLBACK");
}

/// A writer whose sync takes as long as the test wants.
class SlowSync {
 public:
  void hold() {
    std::unique_lock lock(mutex_);
    if (!armed_) return;
    reached_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, 10s, [&] { return !armed_; });
  }
  void arm() { armed_ = true; }
  void await() {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 10s, [&] { return reached_; }));
  }
  void release() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool armed_{false};
  bool reached_{false};
};

TEST_CASE_METHOD(WakeUps, "a commit whose sync is slow is seen when it is through") {
  // The WAL changes, then comes the sync, then the commit becomes visible, and nothing changes the WAL any more.
  FaultVfs disk;
  SlowSync sync;
  disk.on_wal_sync([&] { sync.hold(); });
  store.reset();
  store = file.open();
  append(*store, make_event("first"));  // the WAL has its header, whose sync would come before the event's own write
  look();
  auto program = std::make_unique<SQLite::Database>(file.other_program());
  program->exec("PRAGMA synchronous = FULL");
  sync.arm();
  std::thread writer([&] {
    program->exec(
        "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
        "publish_channel, event_payload) VALUES ('slow', 'ORDER', '1', 'CREATED', 'plain', 'MQ', '{}')");
  });
  sync.await();
  auto waiter = std::async(std::launch::async, [&] { return store->wait_for_work(kLong); });
  CHECK(waiter.wait_for(60ms) == std::future_status::timeout);  // not visible yet
  sync.release();
  writer.join();
  const auto begin = Clock::now();
  CHECK(waiter.get());
  CHECK(Clock::now() - begin < kLong / 2);
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"slow"});
  program.reset();
  store.reset();
}

}  // namespace
}  // namespace waybill::test
