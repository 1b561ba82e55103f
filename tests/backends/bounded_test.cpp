// max_bytes: file and WAL together never grow beyond it, and every event is accounted for.

#include <atomic>
#include <set>
#include <thread>

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

constexpr std::uint64_t kBound = 2U << 20;

/// About a kilobyte: from 0.1 to 2, the same for the same number.
NewEvent kilobyte(const std::string& event_no) {
  NewEvent event = make_event(event_no);
  event.event_payload = "\"" + std::string(100 + std::hash<std::string>{}(event_no) % 1900, 'x') + "\"";
  return event;
}

/// Looks at the store's size all the time, also within transactions, and keeps the largest.
class SizeWatch {
 public:
  explicit SizeWatch(const StoreFile& file) : thread_([this, &file] { watch(file); }) {}
  ~SizeWatch() { stop(); }
  SizeWatch(const SizeWatch&) = delete;
  SizeWatch& operator=(const SizeWatch&) = delete;

  std::uintmax_t largest() {
    stop();
    return largest_;
  }

 private:
  void watch(const StoreFile& file) {
    while (!done_) {
      largest_ = std::max(largest_, file.bytes_on_disk());
      std::this_thread::sleep_for(100us);  // not a wait: how often to look
    }
  }
  void stop() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<bool> done_{false};
  std::uintmax_t largest_{0};
  std::thread thread_;
};

/// A store of kBound bytes, by its URL or by a program's own SqliteOptions.
class Bounded {
 protected:
  std::unique_ptr<IEventRepository> open(OnFull on_full) {
    const bool by_url = GENERATE(true, false);
    INFO((by_url ? "opened by URL" : "opened by options"));
    if (by_url) {
      const std::string query = "synchronous=normal&max_bytes=2MiB&on_full=";
      OpenContext context;
      context.mode = OpenMode::create;
      context.clock = file.clock;
      context.log = file.log.sink();
      file.options =
          sqlite_options(Url::parse(file.url(query + (on_full == OnFull::reject ? "reject" : "drop_oldest"))), context);
    } else {
      file.options.max_bytes = kBound;
      file.options.on_full = on_full;
    }
    return file.create();
  }

  /// Appends until the store says no; how many it took.
  int fill(IEventRepository& store, const std::string& prefix) {
    for (int i = 0; i < 20'000; ++i) {
      try {
        append(store, kilobyte(prefix + std::to_string(i)));
      } catch (const StorageError& error) {
        REQUIRE(error.code() == ErrorCode::full);
        REQUIRE_THAT(error.what(), Catch::Matchers::Contains("max_bytes=2097152"));
        return i;
      }
    }
    FAIL("the store is never full");
    return 0;
  }

  StoreFile file;
};

TEST_CASE_METHOD(Bounded, "max_bytes with drop_oldest: the size holds, and drops are counted one by one") {
  const auto store = open(OnFull::drop_oldest);
  constexpr int kBatches = 300;
  constexpr int kEach = 10;
  const auto begin = std::chrono::steady_clock::now();
  SizeWatch watch(file);
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<NewEvent> events;
    for (int i = 0; i < kEach; ++i) events.push_back(kilobyte("E" + std::to_string(batch * kEach + i)));
    REQUIRE(store->append(events).size() == kEach);
    REQUIRE(file.bytes_on_disk() <= kBound);
  }
  CHECK(watch.largest() <= kBound);
  CHECK(std::chrono::steady_clock::now() - begin < 30s);  // no append waits for a lock of its own store
  const Stats stats = store->stats({});
  CHECK(stats.dropped > 0);
  CHECK(stats.of(Status::pending) + stats.dropped == kBatches * kEach);
  CHECK(stats.of(Status::pending) > 500);  // the bound is used
  CHECK(file.log.has({"buffer is full", "dropped"}));
  // What is left is the newest, without a gap.
  const auto kept = stats.of(Status::pending);
  const Numbers delivered = deliver_all(*store);
  CHECK(delivered.size() == kept);
  CHECK(delivered.front() == "E" + std::to_string(kBatches * kEach - static_cast<int>(kept)));
  CHECK(delivered.back() == "E" + std::to_string(kBatches * kEach - 1));
}

TEST_CASE_METHOD(Bounded, "max_bytes with reject: the size holds, nothing accepted is lost, and delivery makes room") {
  const auto store = open(OnFull::reject);
  SizeWatch watch(file);
  const int first = fill(*store, "A");
  CHECK(first > 500);
  CHECK(store->stats({}).of(Status::pending) == static_cast<std::uint64_t>(first));
  const NewEvent refused = kilobyte("A" + std::to_string(first));  // a smaller one might still fit
  CHECK(code_of([&] { append(*store, refused); }) == ErrorCode::full);
  CHECK_FALSE(store->find(refused.event_no).has_value());

  ClaimRequest some = claim_request(100);
  for (const Event& event : store->claim(some).events) REQUIRE(succeed(*store, event) == SettleStatus::applied);
  const int second = fill(*store, "B");
  CHECK(second > 50);
  CHECK(second <= 110);
  CHECK(watch.largest() <= kBound);
  const Stats stats = store->stats({});
  CHECK(stats.dropped == 0);
  CHECK(stats.of(Status::pending) == static_cast<std::uint64_t>(first - 100 + second));
  CHECK(deliver_all(*store).size() == static_cast<std::size_t>(first - 100 + second));
}

TEST_CASE_METHOD(Bounded, "max_bytes: delivered events don't count, so a buffer that is emptied never fills") {
  const OnFull on_full = GENERATE(OnFull::reject, OnFull::drop_oldest);
  const auto store = open(on_full);
  SizeWatch watch(file);
  std::size_t delivered = 0;
  for (int batch = 0; batch < 150; ++batch) {
    std::vector<NewEvent> events;
    for (int i = 0; i < 20; ++i) events.push_back(kilobyte("E" + std::to_string(batch * 20 + i)));
    (void)store->append(events);
    delivered += deliver_all(*store).size();
  }
  CHECK(watch.largest() <= kBound);
  CHECK(delivered == 3000);
  const Stats stats = store->stats({});
  CHECK(stats.dropped == 0);
  CHECK(stats.purged > 0);
  CHECK(stats.of(Status::succeeded) + stats.purged == 3000);
}

TEST_CASE_METHOD(Bounded, "max_bytes: events in progress are never dropped") {
  const auto store = open(OnFull::drop_oldest);
  for (int i = 0; i < 100; ++i) append(*store, kilobyte("E" + std::to_string(i)));
  const auto held = store->claim(claim_request(50)).events;
  REQUIRE(held.size() == 50);
  for (int i = 0; i < 2500; i += 10) {
    std::vector<NewEvent> events;
    for (int k = 0; k < 10; ++k) events.push_back(kilobyte("later" + std::to_string(i + k)));
    (void)store->append(events);
  }
  for (const Event& event : held) CHECK(succeed(*store, event) == SettleStatus::applied);
  CHECK(store->stats({}).dropped > 0);
}

TEST_CASE_METHOD(Bounded, "max_bytes: an event that can't fit is refused and drops nothing") {
  const auto store = open(OnFull::drop_oldest);
  append_many(*store, "E", 20);
  NewEvent huge = make_event("huge");
  huge.event_payload = "\"" + std::string(1'000'000, 'x') + "\"";
  CHECK(code_of([&] { append(*store, huge); }) == ErrorCode::full);
  CHECK(store->stats({}).dropped == 0);
  CHECK(store->stats({}).of(Status::pending) == 20);
  CHECK(file.bytes_on_disk() <= kBound);
}

TEST_CASE_METHOD(Bounded, "max_bytes: a reader that pins the WAL can't push the store over its bound") {
  auto store = open(OnFull::drop_oldest);
  file.options.busy_timeout = 0ms;
  store = file.open();
  append_many(*store, "E", 20);
  SQLite::Database reader = file.other_program();
  reader.exec("BEGIN");
  REQUIRE(number_of(reader, "SELECT count(*) FROM biz_outbox_event") == 20);
  SizeWatch watch(file);
  int refused = 0;
  for (int i = 0; i < 1000 && refused < 20; ++i) {
    try {
      append(*store, kilobyte("later" + std::to_string(i)));
    } catch (const StorageError& error) {
      REQUIRE(error.code() == ErrorCode::full);
      REQUIRE_THAT(error.what(), Catch::Matchers::Contains("reader"));
      ++refused;
    }
  }
  CHECK(watch.largest() <= kBound);
  CHECK(refused == 20);
  reader.exec("COMMIT");
  require_works(*store, "after");
  CHECK(file.bytes_on_disk() <= kBound);
}

TEST_CASE_METHOD(Bounded, "max_bytes: a batch that could not fit is refused at once, a hundred events of 1 KB fit") {
  const auto store = open(OnFull::drop_oldest);
  std::vector<NewEvent> events = make_events("E", 1000);
  for (NewEvent& event : events) event.event_payload = "\"" + std::string(1000, 'x') + "\"";
  const StorageError error = storage_error_of([&] { (void)store->append(events); });
  CHECK(error.code() == ErrorCode::full);
  CHECK_THAT(error.what(), Catch::Matchers::Contains("1000 events at once") && Catch::Matchers::Contains("fewer"));
  const std::span<const NewEvent> all(events);
  SizeWatch watch(file);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t at = 0; at < all.size(); at += 100) REQUIRE(store->append(all.subspan(at, 100)).size() == 100);
    for (NewEvent& event : events) event.event_no += "x";
  }
  CHECK(watch.largest() <= kBound);
  const Stats stats = store->stats({});
  CHECK(stats.of(Status::pending) + stats.dropped == 3000);
}

TEST_CASE_METHOD(Bounded, "max_bytes: threads of several repositories together hold the bound") {
  const auto first = open(OnFull::drop_oldest);
  SizeWatch watch(file);
  std::vector<std::thread> threads;
  std::atomic<int> accepted{0};
  LogLines errors;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      try {
        const auto store = file.open();
        for (int i = 0; i < 100; ++i) {
          std::vector<NewEvent> events;
          for (int k = 0; k < 10; ++k)
            events.push_back(kilobyte("T" + std::to_string(t) + "-" + std::to_string(i * 10 + k)));
          accepted += static_cast<int>(store->append(events).size());
        }
      } catch (const std::exception& error) {
        errors.sink()(LogLevel::error, error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(errors.lines() == Numbers{});
  CHECK(watch.largest() <= kBound);
  CHECK(accepted == 3000);
  const Stats stats = first->stats({});
  CHECK(stats.of(Status::pending) + stats.dropped == 3000);
}

}  // namespace
}  // namespace waybill::test
