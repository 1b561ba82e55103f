// When and how the WAL goes into the file.

#include <sqlite3.h>

#include <set>

#include "backends/fault_vfs.hpp"
#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

constexpr std::uintmax_t kPage = 4096;
constexpr std::uint32_t kDue = 100;
/// Where the WAL may be between two checkpoints: due, and what a transaction or two add.
constexpr std::uintmax_t kUsualWal = 2 * kDue * kPage;

class Checkpoints {
 protected:
  Checkpoints() {
    file.options.checkpoint_pages = kDue;
    store = file.create();
  }
  void append_batch() {
    std::vector<NewEvent> events;
    for (int i = 0; i < 10; ++i) events.push_back(make_event("E" + std::to_string(next_++)));
    (void)store->append(events);
  }
  /// The largest WAL seen.
  std::uintmax_t append_batches(int count) {
    std::uintmax_t largest = 0;
    for (int i = 0; i < count; ++i) {
      append_batch();
      largest = std::max(largest, file.wal_bytes());
    }
    return largest;
  }

  StoreFile file;
  std::unique_ptr<IEventRepository> store;

 private:
  int next_{0};
};

TEST_CASE_METHOD(Checkpoints, "the WAL stays small over many appends, claims and settlements") {
  CHECK(append_batches(200) <= kUsualWal);
  std::uintmax_t largest = 0;
  for (auto claimed = store->claim(claim_request()); !claimed.events.empty();) {
    std::vector<Settlement> settlements;
    for (const Event& event : claimed.events) settlements.push_back(settlement_of(event, Command::succeed));
    claimed = store->exchange(settlements, claim_request()).claimed;
    largest = std::max(largest, file.wal_bytes());
  }
  CHECK(largest <= 2 * kUsualWal);
  CHECK(store->stats({}).of(Status::succeeded) == 2000);
}

TEST_CASE_METHOD(Checkpoints, "while a checkpoint of ours runs nobody can commit") {
  store.reset();
  FaultVfs disk;
  store = file.create();
  // What SQLite before 3.51.3 may lose is a commit of another connection during a checkpoint.
  SQLite::Database rival = file.other_program();
  rival.exec("PRAGMA busy_timeout = 0");
  int writes = 0;
  int could_commit = 0;
  disk.on_database_write([&] {
    ++writes;
    if (rival.tryExec("BEGIN IMMEDIATE") != SQLITE_OK) return;
    ++could_commit;
    rival.exec("ROLLBACK");
  });
  append_batches(60);
  CHECK(writes > 20);
  CHECK(could_commit == 0);
  writes = 0;
  file.clock->advance(1h);
  REQUIRE(deliver_all(*store).size() == 600);
  file.clock->advance(1h);
  REQUIRE(store->purge(file.clock->now(), 10'000) == 600);
  CHECK(writes > 0);
  CHECK(could_commit == 0);
  disk.on_database_write({});
}

TEST_CASE_METHOD(Checkpoints, "our connections never checkpoint by themselves") {
  file.options.checkpoint_pages = 1'000'000;
  store = file.open();
  // SQLite's own rule would start at 1000 pages.
  for (int i = 0; i < 60 && file.wal_bytes() < 1500 * kPage; ++i) {
    std::vector<NewEvent> events = make_events("B" + std::to_string(i) + "-", 20);
    for (NewEvent& event : events) event.event_payload = "\"" + std::string(10'000, 'x') + "\"";
    (void)store->append(events);
  }
  CHECK(file.wal_bytes() >= 1500 * kPage);
  CHECK(fs::file_size(file.path()) < 100 * kPage);  // none of it has reached the file
  SECTION("a program's connection with our settings neither") {
    store.reset();
    SQLite::Database program = file.other_program();
    SqliteOutbox::configure(program.getHandle());
    const auto size = fs::file_size(file.path());
    program.exec("CREATE TABLE big (text TEXT)");
    for (int i = 0; i < 1500; ++i) program.exec("INSERT INTO big VALUES (zeroblob(4096))");
    CHECK(file.wal_bytes() >= 1500 * kPage);
    CHECK(fs::file_size(file.path()) == size);
  }
}

TEST_CASE_METHOD(Checkpoints, "a foreign program's commits are checkpointed by our next ones") {
  SQLite::Database program = file.other_program();
  SqliteOutbox::configure(program.getHandle());
  program.exec("CREATE TABLE big (text TEXT)");
  for (int i = 0; i < 500; ++i) program.exec("INSERT INTO big VALUES (zeroblob(4096))");
  CHECK(file.wal_bytes() > 500 * kPage);
  append_batches(3);
  CHECK(file.wal_bytes() <= kUsualWal);
  CHECK(number_of(program, "SELECT count(*) FROM big") == 500);
}

TEST_CASE_METHOD(Checkpoints, "a reader that pins the WAL breaks nothing, and when it ends the WAL is small again") {
  append_batches(5);
  SQLite::Database reader = file.other_program();
  reader.exec("BEGIN");
  REQUIRE(number_of(reader, "SELECT count(*) FROM biz_outbox_event") == 50);
  const auto begin = std::chrono::steady_clock::now();
  const std::uintmax_t pinned = append_batches(150);
  CHECK(pinned > kUsualWal);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);  // no commit waits for the reader
  CHECK(number_of(reader, "SELECT count(*) FROM biz_outbox_event") == 50);
  reader.exec("COMMIT");
  append_batches(40);
  CHECK(file.wal_bytes() <= kUsualWal);
  CHECK(number_of(reader, "SELECT count(*) FROM biz_outbox_event") == 1950);
  CHECK(is_sound(reader));
}

TEST_CASE_METHOD(Checkpoints, "a lock that is hard to get delays a checkpoint, not the commit") {
  // The gate's lock is taken by others whenever the checkpoint tries: the commit before it must come back all the same.
  file.options.busy_timeout = 10s;
  store = file.open();
  ProcessOptions options = helper({"insert", file.options.path, "1", "3000"});
  Process rival(options);
  append_batches(60);
  CHECK(rival.wait().exit_code == 0);
  append_batches(5);
  CHECK(file.wal_bytes() <= 8 * kUsualWal);
  CHECK(store->stats({}).of(Status::pending) == 3650);
  SQLite::Database other = file.other_program();
  CHECK(is_sound(other));
}

TEST_CASE_METHOD(Checkpoints, "purge gives the space back to the disk") {
  std::vector<NewEvent> events = make_events("B", 500);
  for (NewEvent& event : events) event.event_payload = "\"" + std::string(4000, 'x') + "\"";
  (void)store->append(events);
  REQUIRE(deliver_all(*store).size() == 500);
  file.clock->advance(1h);
  (void)store->archive(file.clock->now(), 1000);
  while (store->purge(file.clock->now() + 1h, 200) != 0) {
  }
  CHECK(fs::file_size(file.path()) < 100 * kPage);
  CHECK(store->stats({}).purged == 500);
}

TEST_CASE_METHOD(Checkpoints, "the last to close leaves no WAL behind") {
  append_batches(3);
  store.reset();
  CHECK_FALSE(fs::exists(file.wal()));
  CHECK(file.open()->stats({}).of(Status::pending) == 30);
}

}  // namespace
}  // namespace waybill::test
