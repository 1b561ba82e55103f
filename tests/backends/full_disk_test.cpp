// A disk without room, and one that fails: nothing half done, a clear error, and the same object works on afterwards.

#include <sqlite3.h>

#include <fstream>

#include "backends/fault_vfs.hpp"
#include "backends/mounts.hpp"
#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Call = FaultVfs::Call;

std::vector<NewEvent> big_events(const std::string& prefix, int count) {
  std::vector<NewEvent> events = make_events(prefix, count);
  for (NewEvent& event : events) event.event_payload = "\"" + std::string(1000, 'x') + "\"";
  return events;
}

/// The store's rows as another program sees them.
class Witness {
 public:
  explicit Witness(const StoreFile& file) : database_(file.other_program()) {}
  std::vector<std::string> rows() {
    return rows_of(database_,
                   "SELECT event_no || publish_status || retry_count || version FROM biz_outbox_event UNION ALL SELECT "
                   "event_no FROM biz_outbox_event_archive UNION ALL SELECT name || value FROM waybill_counter");
  }
  bool sound() { return is_sound(database_); }

 private:
  SQLite::Database database_;
};

/// One way to write, prepared so that it has something to do.
struct Write {
  const char* name;
  std::function<void(StoreFile&, IEventRepository&)> prepare;
  std::function<void(StoreFile&, IEventRepository&)> run;
};

std::vector<Event> claim_ten(IEventRepository& store) { return store.claim(claim_request(10)).events; }

void settle_ten(IEventRepository& store) {
  std::vector<Settlement> settlements;
  for (const Event& event : store.query({}, {})) settlements.push_back(settlement_of(event, Command::succeed));
  (void)store.settle(settlements);
}

const std::vector<Write>& writes() {
  static const auto nothing = [](StoreFile&, IEventRepository&) {};
  static const auto ten = [](StoreFile&, IEventRepository& store) { (void)store.append(big_events("E", 10)); };
  static const auto claimed = [](StoreFile& file, IEventRepository& store) {
    ten(file, store);
    (void)claim_ten(store);
  };
  static const auto finished = [](StoreFile& file, IEventRepository& store) {
    claimed(file, store);
    settle_ten(store);
    file.clock->advance(1h);
  };
  static const std::vector<Write> all{
      {"append", nothing, ten},
      {"claim", ten, [](StoreFile&, IEventRepository& store) { (void)claim_ten(store); }},
      {"settle", claimed, [](StoreFile&, IEventRepository& store) { settle_ten(store); }},
      {"cancel", ten, [](StoreFile&, IEventRepository& store) { (void)store.cancel({}, "not wanted", 10); }},
      {"archive", finished,
       [](StoreFile& file, IEventRepository& store) { (void)store.archive(file.clock->now(), 10); }},
  };
  return all;
}

TEST_CASE("no room at any write of a transaction: nothing is written, and with room the same object works on") {
  const Write& write = writes()[GENERATE(range(std::size_t{0}, writes().size()))];
  INFO(write.name);
  FaultVfs disk;
  bool failed = true;
  int nth = 1;
  for (; failed; ++nth) {
    StoreFile file;
    const auto store = file.create();
    write.prepare(file, *store);
    Witness witness(file);
    const auto before = witness.rows();
    disk.fail(Call::write, nth, SQLITE_FULL);
    bool thrown = false;
    try {
      write.run(file, *store);
    } catch (const StorageError& error) {
      thrown = true;
      CHECK(error.code() == ErrorCode::full);
    }
    failed = disk.has_failed();
    disk.heal();
    INFO("write " << nth);
    REQUIRE(thrown == failed);
    if (!failed) break;
    REQUIRE(witness.rows() == before);
    write.run(file, *store);
    CHECK(witness.rows() != before);
    CHECK(witness.sound());
    require_works(*store, "after");
  }
  CHECK(nth > 4);  // else no write was hit
}

TEST_CASE("no room while a checkpoint runs: the commit before it stands") {
  FaultVfs disk;
  StoreFile file;
  file.options.checkpoint_pages = 100;
  const auto store = file.create();
  Witness witness(file);
  int hit = 0;
  for (int i = 0; i < 60; ++i) {
    disk.on_database_write([&] {
      ++hit;
      disk.fail(Call::write, 1, SQLITE_FULL);
    });
    const auto results = store->append(big_events("E" + std::to_string(i) + "-", 10));
    CHECK(results.size() == 10);
    disk.on_database_write({});
    disk.heal();
  }
  CHECK(hit > 0);
  CHECK(store->stats({}).of(Status::pending) == 600);
  CHECK(witness.sound());
  REQUIRE(store->cancel({}, "", 1000) == 600);
}

TEST_CASE("a disk that fails to write: an error, nothing half done, and it works on when the disk does") {
  FaultVfs disk;
  StoreFile file;
  const auto store = file.create();
  append(*store, make_event("first"));
  Witness witness(file);
  for (int nth = 1; nth <= 12; ++nth) {
    const auto before = witness.rows();
    disk.fail(Call::write, nth, SQLITE_IOERR_WRITE);
    const auto batch = big_events("B" + std::to_string(nth) + "-", 5);
    const ErrorCode code = code_of([&] { (void)store->append(batch); });
    CHECK((code == ErrorCode::unavailable || code == ErrorCode::outcome_unknown));
    disk.heal();
    CHECK(witness.rows() == before);
    for (const AppendResult& result : store->append(batch)) CHECK(result.status == AppendStatus::inserted);
    CHECK(witness.sound());
  }
}

TEST_CASE("a disk that refuses to sync: the outcome is unknown, and the next call starts on a fresh handle") {
  FaultVfs disk;
  StoreFile file;
  file.options.durability = Durability::full;
  const auto store = file.create();
  append(*store, make_event("first"));
  const int opens = disk.database_opens();
  disk.fail(Call::sync, 1, SQLITE_IOERR_FSYNC);
  CHECK(code_of([&] { append(*store, make_event("E1")); }) == ErrorCode::outcome_unknown);
  disk.heal();
  CHECK(store->find("first").has_value());
  // A kernel may say once that pages were not written, then forget them: the old handle can't be trusted.
  CHECK(disk.database_opens() > opens);
  const bool there = store->find("E1").has_value();
  CHECK(append(*store, make_event("E1")).status == (there ? AppendStatus::duplicate : AppendStatus::inserted));
  CHECK(deliver_all(*store) == Numbers{"first", "E1"});
}

// --- A real disk ---

class FullDisk {
 protected:
  /// False: mounting is not allowed here.
  bool mount() {
    disk = SmallDisk::make("1500k");
    if (disk == nullptr) WARN("mounting is not allowed here: a full disk was only imitated, not tested");
    return disk != nullptr;
  }
  void fill() {
    std::ofstream filler(disk->path() / "filler", std::ios::binary);
    while (filler << std::string(4096, 'x') && filler.flush()) {
    }
  }
  void make_room() { fs::remove(disk->path() / "filler"); }

  std::unique_ptr<SmallDisk> disk;
};

TEST_CASE_METHOD(FullDisk, "a full disk: append says so, and works once there is room") {
  if (!mount()) return;
  StoreFile file(disk->path());
  const auto store = file.create();
  append_many(*store, "E", 5);
  Witness witness(file);
  const auto before = witness.rows();
  fill();
  for (int i = 0; i < 3; ++i) {
    const StorageError error = storage_error_of([&] { (void)store->append(big_events("B", 200)); });
    CHECK(error.code() == ErrorCode::full);
    CHECK_THAT(error.what(), Catch::Matchers::Contains("no room on the disk"));
    CHECK(witness.rows() == before);
    CHECK(store->stats({}).of(Status::pending) == 5);
  }
  make_room();
  CHECK(store->append(big_events("B", 200)).size() == 200);
  CHECK(witness.sound());
  CHECK(deliver_all(*store).size() == 205);
}

TEST_CASE_METHOD(FullDisk, "a disk that fills up bit by bit: what was accepted is there, nothing else") {
  if (!mount()) return;
  StoreFile file(disk->path());
  const auto store = file.create();
  int accepted = 0;
  const ErrorCode code = code_of([&] {
    for (; accepted < 5000; ++accepted) {
      NewEvent event = big_events("E", 1).front();
      event.event_no = "E" + std::to_string(accepted);
      append(*store, event);
    }
  });
  CHECK(code == ErrorCode::full);
  CHECK(accepted > 50);
  CHECK(store->stats({}).of(Status::pending) == static_cast<std::uint64_t>(accepted));
  SQLite::Database other = file.other_program();
  CHECK(is_sound(other));
}

TEST_CASE_METHOD(FullDisk, "a full disk is no reason to call a file damaged") {
  if (!mount()) return;
  StoreFile file(disk->path());
  append_many(*file.create(), "E", 5);
  fill();
  file.options.quarantine = true;
  const ErrorCode code = code_of([&] { append(*file.open(), make_event("more")); });
  CHECK((code == ErrorCode::full || code == ErrorCode::unavailable));
  CHECK_FALSE(fs::exists(file.path().string() + ".corrupt-1"));
  make_room();
  CHECK(deliver_all(*file.open()).size() == 5);
}

}  // namespace
}  // namespace waybill::test
