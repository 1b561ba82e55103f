// Locks of others, and a file that is moved away under an open store.

#include <future>

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Clock = std::chrono::steady_clock;

/// A store while another program holds the write lock.
class Locked {
 protected:
  void lock(Duration busy_timeout) {
    (void)file.create();
    file.options.busy_timeout = busy_timeout;
    store = file.open();
    append(*store, make_event("E1"));
    rival = std::make_unique<SQLite::Database>(file.other_program());
    rival->exec("BEGIN IMMEDIATE");
  }
  void unlock() { rival->exec("ROLLBACK"); }

  StoreFile file;
  std::unique_ptr<IEventRepository> store;
  std::unique_ptr<SQLite::Database> rival;
};

TEST_CASE_METHOD(Locked, "a held lock is busy after the timeout, nothing is written, and the call can be repeated") {
  const Duration timeout = GENERATE(0ms, 30ms);
  lock(timeout);
  const auto begin = Clock::now();
  const StorageError error = storage_error_of([&] { append(*store, make_event("E2")); });
  const auto waited = Clock::now() - begin;
  CHECK(error.code() == ErrorCode::busy);
  CHECK_THAT(error.what(), Contains("store.db") && Contains("append"));
  CHECK(waited >= timeout);
  CHECK(waited < 5s);
  const Token token{1, 0, "relay-a"};
  CHECK(code_of([&] { (void)store->claim(claim_request()); }) == ErrorCode::busy);
  CHECK(code_of([&] { (void)store->claim(ordered_request()); }) == ErrorCode::busy);
  CHECK(code_of([&] { (void)store->exchange({}, claim_request()); }) == ErrorCode::busy);
  CHECK(code_of([&] { (void)store->extend({&token, 1}, 1s); }) == ErrorCode::busy);
  CHECK(code_of([&] { (void)store->cancel({}, "", 10); }) == ErrorCode::busy);
  CHECK(code_of([&] { store->set_note("a", "b"); }) == ErrorCode::busy);
  unlock();
  CHECK(append(*store, make_event("E2")).status == AppendStatus::inserted);
  CHECK(deliver_all(*store) == Numbers{"E1", "E2"});
}

TEST_CASE_METHOD(Locked, "questions never wait for a writer") {
  lock(0ms);
  rival->exec("UPDATE biz_outbox_event SET remark = 'not committed'");
  CHECK(store->stats({}).of(Status::pending) == 1);
  CHECK_FALSE(store->find("E1")->remark.has_value());
  CHECK(store->query({}, {}).size() == 1);
  CHECK(store->backlog().depth() == 1);
  CHECK(store->expired(10).empty());
  CHECK_FALSE(store->note("a").has_value());
  CHECK(file.open(OpenMode::read_only)->stats({}).of(Status::pending) == 1);
}

TEST_CASE_METHOD(Locked, "opening does not wait for a writer either") {
  lock(0ms);
  CHECK(file.open()->stats({}).of(Status::pending) == 1);
}

TEST_CASE_METHOD(Locked, "init waits for the lock and says busy") {
  lock(0ms);
  CHECK(code_of([&] { (void)file.create(); }) == ErrorCode::busy);
  unlock();
  CHECK(file.create()->stats({}).of(Status::pending) == 1);
}

TEST_CASE_METHOD(Locked, "a claim that was busy has taken nothing") {
  lock(0ms);
  CHECK(code_of([&] { (void)store->claim(claim_request()); }) == ErrorCode::busy);
  unlock();
  const Event event = store->find("E1").value();
  CHECK(event.publish_status == Status::pending);
  CHECK(event.version == 0);
  CHECK(store->wait_for_work(0ms));  // it still has to look
}

// --- The file itself ---

class Moved {
 protected:
  Moved() {
    (void)file.create();
    store = file.open();
    append(*store, make_event("old"));
  }

  /// Until a wait really waits.
  void come_to_rest() {
    while (store->wait_for_work(0ms)) (void)store->claim(claim_request());
  }
  /// As an administrator or a clean-up job would.
  void remove_all() const {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.options.path + suffix);
  }
  void rename_all() const {
    for (const char* suffix : {"", "-wal", "-shm"})
      fs::rename(file.options.path + suffix, file.options.path + ".old" + suffix);
  }

  StoreFile file;
  std::unique_ptr<IEventRepository> store;
};

TEST_CASE_METHOD(Moved, "a removed file: nothing is written into the void, every call says so") {
  remove_all();
  const StorageError first = storage_error_of([&] { append(*store, make_event("E1")); });
  CHECK(first.code() == ErrorCode::unavailable);
  CHECK_THAT(first.what(), Contains("store.db") && Contains("moved or removed"));
  for (int i = 0; i < 3; ++i) {
    const StorageError later = storage_error_of([&] { append(*store, make_event("E1")); });
    CHECK_THAT(later.what(), Contains("does not exist") && Contains("waybill init"));
  }
  CHECK(code_of([&] { (void)store->stats({}); }) == ErrorCode::schema);
  CHECK(code_of([&] { (void)store->wait_for_work(1s); }) == ErrorCode::schema);
  CHECK_FALSE(fs::exists(file.path()));
}

TEST_CASE_METHOD(Moved, "once a store is there again, the same object works on with it") {
  SECTION("removed") { remove_all(); }
  SECTION("renamed") { rename_all(); }
  const auto fresh = file.create();
  append(*fresh, make_event("new"));
  CHECK(code_of([&] { (void)store->claim(claim_request()); }) == ErrorCode::unavailable);
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"new"});
  CHECK(append(*store, make_event("E1")).status == AppendStatus::inserted);
  CHECK(fresh->find("E1").has_value());
}

TEST_CASE_METHOD(Moved, "an event that was accepted before is in the file that was renamed") {
  rename_all();
  CHECK(code_of([&] { append(*store, make_event("E1")); }) == ErrorCode::unavailable);
  store.reset();
  file.options.path += ".old";
  CHECK(deliver_all(*file.open()) == Numbers{"old"});
}

TEST_CASE_METHOD(Moved, "a store that came back wakes its waiter as before") {
  const auto pins_old_files = file.open();  // so that the system never says that the old WAL is gone
  come_to_rest();
  SECTION("removed") { remove_all(); }
  SECTION("renamed") { rename_all(); }
  const auto fresh = file.create();
  CHECK(code_of([&] { (void)store->claim(claim_request()); }) == ErrorCode::unavailable);
  CHECK(store->claim(claim_request()).events.empty());
  come_to_rest();
  auto waiter = std::async(std::launch::async, [&] { return store->wait_for_work(20s); });
  REQUIRE(waiter.wait_for(30ms) == std::future_status::timeout);
  append(*fresh, make_event("new"));
  CHECK(waiter.wait_for(10s) == std::future_status::ready);
  CHECK(waiter.get());
}

}  // namespace
}  // namespace waybill::test
