// An event moves to the archive while somebody puts it again.

#include <thread>

#include "mysql/mysql_fixture.hpp"
#include "support/process.hpp"

namespace waybill::test {
namespace {

/// Moves the event with the statements of `archive`, but with a rest before the COMMIT.
class SlowArchive {
 public:
  explicit SlowArchive(const MysqlOptions& options) : client_(options) {}
  void move_but_not_commit(const std::string& event_no) {
    client_.run("BEGIN");
    client_.run(
        "INSERT INTO biz_outbox_event_archive SELECT *, UTC_TIMESTAMP(6) FROM biz_outbox_event WHERE event_no = '" +
        event_no + "'");
    client_.run("DELETE FROM biz_outbox_event WHERE event_no = '" + event_no + "'");
  }
  void commit() { client_.run("COMMIT"); }

 private:
  PlainClient client_;
};

TEST_CASE_METHOD(OnSharedServers, "an event that is archived while it is put again is a duplicate", "[archive]") {
  const auto store = open();
  deliver_one(*store, "twice");
  const std::int64_t id = store->find("twice")->id;
  SlowArchive archive(database.options());
  archive.move_but_not_commit("twice");
  std::vector<AppendResult> results;
  std::thread putter([&] {
    const std::vector<NewEvent> events{make_event("before"), make_event("twice"), make_event("behind")};
    results = store->append(events);
  });
  // Its INSERT has begun, and can't end before the other's COMMIT.
  const std::string inserting =
      "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'INSERT INTO "
      "biz_outbox_event (%'";
  CHECK(eventually([&] { return database.value(inserting) != "0"; }));
  archive.commit();
  putter.join();
  REQUIRE(results.size() == 3);
  CHECK(results[0].status == AppendStatus::inserted);
  CHECK(results[1].status == AppendStatus::duplicate);
  CHECK(results[1].id == id);
  CHECK(results[2].status == AppendStatus::inserted);
  CHECK(numbers_of(store->claim(claim_request()).events) == Numbers{"before", "behind"});
}

}  // namespace
}  // namespace waybill::test
