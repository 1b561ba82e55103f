// Files that are missing, damaged or something else; with and without recover=quarantine.

#include <fstream>

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

constexpr int kEvents = 300;

void overwrite(const fs::path& path, std::streamoff at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file << bytes;
  REQUIRE(file.flush());
}

struct Damage {
  const char* name;
  std::function<void(const fs::path&)> inflict;
};

/// Damage that shows itself as soon as the file is opened.
const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"some other file", [](const fs::path& path) { write_file(path, std::string(50'000, 'x')); }},
      {"a short text", [](const fs::path& path) { write_file(path, "not a database\n"); }},
      {"zeroed header", [](const fs::path& path) { overwrite(path, 0, std::string(100, '\0')); }},
      {"all zeros", [](const fs::path& path) { write_file(path, std::string(fs::file_size(path), '\0')); }},
      {"cut to half", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }},
      {"cut to a page", [](const fs::path& path) { fs::resize_file(path, 4096); }},
      {"cut within the header", [](const fs::path& path) { fs::resize_file(path, 50); }},
  };
  return all;
}

/// A store of kEvents events, closed, then damaged.
class DamagedStore {
 protected:
  DamagedStore() { append_many(*file.create(), "E", kEvents); }

  void inflict(const Damage& damage) {
    damage.inflict(file.path());
    bytes = read_file(file.path());
  }
  std::unique_ptr<IEventRepository> recover() {
    file.options.quarantine = true;
    return file.open();
  }
  fs::path aside(int number) const { return file.path().string() + ".corrupt-" + std::to_string(number); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(file.folder())) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

  StoreFile file;
  std::string bytes;
};

const Damage& each_damage() { return damages()[GENERATE(range(std::size_t{0}, damages().size()))]; }

TEST_CASE_METHOD(DamagedStore, "a damaged file is a clear error, and stays as it is") {
  const Damage& damage = each_damage();
  INFO(damage.name);
  inflict(damage);
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::read_only, OpenMode::create}) {
    const StorageError error = storage_error_of([&] { (void)file.open(mode); });
    CHECK(error.code() == ErrorCode::corrupt);
    CHECK_THAT(error.what(), Contains("store.db") && Contains("recover=quarantine"));
  }
  CHECK(read_file(file.path()) == bytes);
}

TEST_CASE_METHOD(DamagedStore, "quarantine: a damaged file is set aside, a fresh store works, and it is said") {
  const Damage& damage = each_damage();
  INFO(damage.name);
  inflict(damage);
  const auto store = recover();
  CHECK(read_file(aside(1)) == bytes);
  CHECK(store->stats({}).of(Status::pending) == 0);
  require_works(*store, "E1");

  CHECK(file.log.has({"store.db", "damaged", "store.db.corrupt-1"}));
  bool found = false;
  for (const Finding& finding : store->diagnose()) {
    if (finding.name != "quarantine") continue;
    found = true;
    CHECK(finding.level == Finding::Level::warning);
    CHECK_THAT(finding.detail, Contains("corrupt-1"));
  }
  CHECK(found);
}

TEST_CASE_METHOD(DamagedStore, "quarantine: damage within the file is found too") {
  damage_rows(file.path());
  bytes = read_file(file.path());
  SECTION("without it: an error at the latest when it is met, and in doctor") {
    const StorageError error = storage_error_of([&] {
      const auto store = file.open();
      for (const Finding& finding : store->diagnose())
        if (finding.name == "integrity") CHECK(finding.level == Finding::Level::error);
      deliver_all(*store);
    });
    CHECK(error.code() == ErrorCode::corrupt);
  }
  SECTION("with it: set aside") {
    require_works(*recover(), "E1");
    CHECK(read_file(aside(1)) == bytes);
  }
}

TEST_CASE_METHOD(DamagedStore, "quarantine: each damaged file is kept, numbers count up") {
  for (int round = 1; round <= 3; ++round) {
    inflict(damages()[static_cast<std::size_t>(round)]);
    require_works(*recover(), "E1");
    CHECK(read_file(aside(round)) == bytes);
  }
  CHECK(names() == Numbers{"store.db", "store.db.corrupt-1", "store.db.corrupt-2", "store.db.corrupt-3"});
}

TEST_CASE_METHOD(DamagedStore, "quarantine: a sound file is left alone") {
  SECTION("closed") {}
  SECTION("cut off in the middle of its work") {
    // A copy of file and WAL as a crash leaves them; made by a process of its own, since closing a second handle here
    // would drop our locks.
    const auto live = file.open();
    append(*live, make_event("last"));
    const std::string command = "cp store.db copy.db && cp store.db-wal copy.db-wal";
    ProcessOptions copy{"sh", {"-c", command}, file.folder(), {}, {}, {}, -1};
    REQUIRE(Process(copy).wait().exit_code == 0);
    file.options.path = (file.folder() / "copy.db").string();
    CHECK(recover()->find("last").has_value());
  }
  SECTION("locked by a writer") {
    SQLite::Database rival = file.other_program();
    rival.exec("BEGIN EXCLUSIVE");
    CHECK(recover()->stats({}).of(Status::pending) == kEvents);
  }
  CHECK(recover()->stats({}).of(Status::pending) >= kEvents);
  for (const std::string& name : names()) CHECK(name.find("corrupt") == std::string::npos);
  CHECK(file.log.lines().empty());
}

TEST_CASE_METHOD(DamagedStore, "quarantine: of several processes at once one moves the damaged file, all work on") {
  constexpr int kProcesses = 4;
  constexpr int kEach = 5;
  for (int round = 1; round <= 6; ++round) {
    inflict(damages()[static_cast<std::size_t>(round) % damages().size()]);
    std::vector<std::unique_ptr<Process>> processes;
    for (int i = 0; i < kProcesses; ++i) {
      ProcessOptions options = helper({"append", file.url("recover=quarantine&synchronous=normal"),
                                       "R" + std::to_string(i) + "-", std::to_string(kEach)});
      options.output = file.folder() / ("out-" + std::to_string(i));
      processes.push_back(std::make_unique<Process>(options));
    }
    int told = 0;
    for (int i = 0; i < kProcesses; ++i) {
      CHECK(processes[static_cast<std::size_t>(i)]->wait().exit_code == 0);
      const std::string out = read_file(file.folder() / ("out-" + std::to_string(i)));
      INFO("round " << round << ", process " << i << ": " << out);
      CHECK(out.find("error") == std::string::npos);
      told += out.find("damaged") != std::string::npos;
    }
    CHECK(told == 1);
    CHECK(read_file(aside(round)) == bytes);
    CHECK_FALSE(fs::exists(aside(round + 1)));
    CHECK(file.open()->stats({}).of(Status::pending) == kProcesses * kEach);
  }
}

TEST_CASE("a missing file is a clear error that says how to make one") {
  StoreFile file;
  file.options.quarantine = GENERATE(false, true);
  const auto check = [&](OpenMode mode) {
    const StorageError error = storage_error_of([&] { (void)file.open(mode); });
    CHECK(error.code() == ErrorCode::schema);
    CHECK_THAT(error.what(), Contains("store.db") && Contains("does not exist") && Contains("waybill init"));
  };
  SECTION("the file") {
    check(OpenMode::read_write);
    check(OpenMode::read_only);
    CHECK(fs::is_empty(file.folder()));
    require_works(*file.create(), "E1");
  }
  SECTION("its folder") {
    file.options.path = (file.folder() / "no" / "store.db").string();
    check(OpenMode::read_write);
    check(OpenMode::read_only);
    CHECK(code_of([&] { (void)file.create(); }) == ErrorCode::unavailable);
  }
}

TEST_CASE("a file of no bytes is a database without tables, with quarantine it gets them") {
  StoreFile file;
  write_file(file.path(), "");
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::read_only}) {
    const StorageError error = storage_error_of([&] { (void)file.open(mode); });
    CHECK(error.code() == ErrorCode::schema);
    CHECK_THAT(error.what(), Contains("waybill init"));
  }
  SECTION("init") { require_works(*file.create(), "E1"); }
  SECTION("quarantine") {
    file.options.quarantine = true;
    require_works(*file.open(), "E1");
    CHECK(file.log.has({"store.db", "empty", "fresh store"}));
    CHECK_FALSE(fs::exists(file.path().string() + ".corrupt-1"));  // it held nothing
  }
}

TEST_CASE_METHOD(DamagedStore, "quarantine: a power cut between moving the file and making a fresh one") {
  inflict(damages().front());
  fs::rename(file.path(), aside(1));
  require_works(*recover(), "E1");
  CHECK(file.log.has({"damaged", "store.db.corrupt-1"}));
  require_works(*recover(), "E2");  // and no second time
  CHECK(names() == Numbers{"store.db", "store.db.corrupt-1"});
}

TEST_CASE_METHOD(DamagedStore, "quarantine: damage that shows itself while the store is open") {
  file.options.quarantine = true;
  const auto store = file.open();
  append(*store, make_event("E-in-wal"));
  // All of it but the header, behind the back of the open store; its cache is small enough to meet it.
  const std::string command = "dd if=/dev/zero of=store.db bs=4096 seek=1 count=200 conv=notrunc status=none";
  ProcessOptions damage{"sh", {"-c", command}, file.folder(), {}, {}, {}, -1};
  REQUIRE(Process(damage).wait().exit_code == 0);
  int errors = 0;
  for (int i = 0; i < 5 && errors == 0; ++i) {
    try {
      (void)store->query({}, {});
      deliver_all(*store);
    } catch (const StorageError& error) {
      CHECK(error.code() == ErrorCode::corrupt);
      ++errors;
    }
  }
  REQUIRE(errors == 1);
  require_works(*store, "after");
  CHECK(fs::exists(aside(1)));
}

TEST_CASE("a folder instead of a file is a clear error") {
  StoreFile file;
  file.options.quarantine = GENERATE(false, true);
  fs::create_directory(file.path());
  for (const OpenMode mode : {OpenMode::read_write, OpenMode::read_only, OpenMode::create}) {
    const StorageError error = storage_error_of([&] { (void)file.open(mode); });
    CHECK(error.code() == ErrorCode::unavailable);
    CHECK_THAT(error.what(), Contains("store.db"));
  }
  CHECK(fs::is_directory(file.path()));
}

}  // namespace
}  // namespace waybill::test
