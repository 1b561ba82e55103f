// `waybill doctor`: each finding in its good and in its bad state. And questions about a store without rows.

#include <sqlite3.h>

#include "backends/mounts.hpp"
#include "backends/sqlite_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Level = Finding::Level;

Finding finding(IEventRepository& store, const std::string& name) {
  for (const Finding& one : store.diagnose())
    if (one.name == name) return one;
  FAIL("no finding '" << name << "'");
  return {};
}

/// A bad state says what was seen and what to do.
void check_bad(IEventRepository& store, const std::string& name, Level level, const std::string& words) {
  const Finding found = finding(store, name);
  INFO(name << ": " << found.detail);
  CHECK(found.level == level);
  CHECK_THAT(found.detail, Contains(words));
  CHECK_FALSE(found.advice.empty());
}

TEST_CASE("doctor: a fresh store is in order") {
  StoreFile file;
  const auto store = file.create();
  for (const Finding& one : store->diagnose()) {
    INFO(one.name << ": " << one.detail);
    CHECK_FALSE(one.name.empty());
    CHECK_FALSE(one.detail.empty());
    if (one.name == "sqlite-version") continue;  // that of the machine
    CHECK(one.level == Level::ok);
    CHECK(one.advice.empty());
  }
  append(*store, make_event("E1"));
  deliver_all(*store);
  CHECK(finding(*store, "leases").level == Level::ok);
  CHECK(finding(*store, "clock").level == Level::ok);
}

TEST_CASE("doctor: a SQLite with the WAL reset bug is named") {
  StoreFile file;
  const Finding found = finding(*file.create(), "sqlite-version");
  CHECK_THAT(found.detail, Contains(sqlite3_libversion()));
  const int version = sqlite3_libversion_number();
  if (version < 3044000) CHECK(found.level == Level::warning);
  if (version >= 3051003) CHECK(found.level == Level::ok);
  if (found.level == Level::warning) CHECK_THAT(found.advice, Contains("wal_autocheckpoint=0"));
}

TEST_CASE("doctor: a journal mode that is not WAL") {
  StoreFile file;
  file.create().reset();
  file.other_program().exec("PRAGMA journal_mode = DELETE");
  check_bad(*file.open(OpenMode::read_only), "journal-mode", Level::error, "delete");
  CHECK(finding(*file.open(), "journal-mode").level == Level::ok);  // a writer sets it right
}

TEST_CASE("doctor: a file that can't give space back") {
  StoreFile file;
  file.other_program().exec("CREATE TABLE orders (id INTEGER)");  // a table before ours: too late for auto_vacuum
  check_bad(*file.create(), "auto-vacuum", Level::warning, "never gets shorter");
}

TEST_CASE("doctor: an index of the claim that is missing or wrong") {
  StoreFile file;
  const auto store = file.create();
  SQLite::Database program = file.other_program();
  SECTION("missing") { program.exec("DROP INDEX idx_outbox_failed"); }
  SECTION("another of the same name") {
    program.exec("DROP INDEX idx_outbox_new; CREATE INDEX idx_outbox_new ON biz_outbox_event (publish_status)");
  }
  check_bad(*store, "claim-plan", Level::error, "idx_outbox");
  check_bad(*file.open(), "claim-plan", Level::error, "idx_outbox");
}

TEST_CASE("doctor: an index of the leases that is missing") {
  StoreFile file;
  const auto store = file.create();
  file.other_program().exec("DROP INDEX idx_outbox_lease");
  check_bad(*store, "leases", Level::error, "idx_outbox_lease");
}

TEST_CASE("doctor: the order index is made by the first ordered claim") {
  StoreFile file;
  const auto store = file.create();
  CHECK_THAT(finding(*store, "order-index").detail, Contains("not there"));
  (void)store->claim(ordered_request());
  CHECK(finding(*store, "order-index").detail == "there");
}

TEST_CASE("doctor: leases that nobody takes back") {
  StoreFile file;
  const auto store = file.create();
  append(*store, make_event("E1"));
  REQUIRE(store->claim(claim_request()).events.size() == 1);
  file.clock->advance(5min);
  CHECK(finding(*store, "leases").level == Level::ok);  // a relay that was restarted would still get it
  file.clock->advance(31s);
  check_bad(*store, "leases", Level::warning, "1 leases");
  file.other_program().exec("UPDATE biz_outbox_event SET lock_until = NULL");
  check_bad(*store, "leases", Level::error, "without a lease");
}

TEST_CASE("doctor: a clock that stepped back") {
  StoreFile file;
  const auto store = file.create();
  append(*store, make_event("E1"));
  file.clock->advance(-5min);
  CHECK(finding(*store, "clock").level == Level::ok);
  file.clock->advance(-1s);
  check_bad(*store, "clock", Level::warning, format_time(ManualClock::kStart));
}

TEST_CASE("doctor: a WAL that grew out of hand") {
  StoreFile file;
  const auto store = file.create();
  append(*store, make_event("E1"));
  CHECK_THAT(finding(*store, "size").detail, Contains("KiB"));
  fs::resize_file(file.wal(), 300U << 20);  // a hole; SQLite reads no further than the last commit
  check_bad(*store, "size", Level::warning, "WAL 307200 KiB");
  fs::resize_file(file.wal(), 0);
}

TEST_CASE("doctor: a disk that is nearly full") {
  const auto disk = SmallDisk::make("8m");
  if (disk == nullptr) {
    WARN("mounting is not allowed here: the nearly full disk was not tested");
    return;
  }
  StoreFile file(disk->path());
  check_bad(*file.create(), "disk", Level::warning, "MiB free");
}

TEST_CASE("doctor: damage within the file") {
  StoreFile file;
  append_many(*file.create(), "E", 300);
  damage_rows(file.path());
  check_bad(*file.open(), "integrity", Level::error, "");
}

TEST_CASE("a store without rows answers every question") {
  StoreFile file;
  file.create().reset();
  const auto store = file.open(GENERATE(OpenMode::read_write, OpenMode::read_only));
  StatsRequest by_type;
  by_type.event_type = "ORDER_CREATED";
  StatsRequest by_time;
  by_time.created_from = file.clock->now();
  for (const StatsRequest& request : {StatsRequest{}, by_type, by_time}) {
    const Stats stats = store->stats(request);
    for (const Status status : kAllStatuses) CHECK(stats.of(status) == 0);
    CHECK(stats.dead == 0);
    CHECK_FALSE(stats.oldest_pending.has_value());
    CHECK(stats.archived + stats.purged + stats.dropped == 0);
  }
  CHECK(store->backlog().depth() == 0);
  CHECK_FALSE(store->backlog().oldest.has_value());
  CHECK(store->backlog_by_channel().empty());
  CHECK(store->query({}, {}).empty());
  CHECK_FALSE(store->find("E1").has_value());
  CHECK(store->expired(10).empty());
  CHECK_FALSE(store->note("routes").has_value());
}

}  // namespace
}  // namespace waybill::test
