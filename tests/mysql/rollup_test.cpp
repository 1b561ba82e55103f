// The daily counts beside transactions that commit late, and what the servers read for them.

#include <future>

#include "mysql/mysql_fixture.hpp"
#include "mysql/seed_table.hpp"
#include "support/manual_clock.hpp"
#include "support/process.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::test {
namespace {

constexpr const char* kInsert =
    "INSERT INTO biz_outbox_event (id, event_no, aggregate_type, aggregate_id, event_type, event_source, "
    "publish_channel, event_payload, create_time, publish_status) VALUES ";

std::string row(int id, const std::string& create_time, int status = 2) {
  const std::string number = std::to_string(id);
  return "(" + number + ", 'R" + number + "', 'ORDER', '1', 'CREATED', 'plain', 'MQ', '{}', '" + create_time + "', " +
         std::to_string(status) + ")";
}

class DailyCounts : public OnSharedServers {
 protected:
  DailyCounts() : client(database.options()) {
    options = database.options();
    options.clock = clock;
    clock->set(parse_time("2026-05-13T12:00:00Z").value());
    store = open_mysql(options);
  }
  void roll_up() {
    int calls = 0;
    while (store->rollup(100).more) REQUIRE(++calls < 100);
  }
  std::string counts() {
    return database.value(
        "SELECT COALESCE(GROUP_CONCAT(CONCAT_WS(' ', stat_date, publish_status, event_count) "
        "ORDER BY stat_date, publish_status SEPARATOR ', '), '') FROM biz_event_stat WHERE event_count > 0");
  }

  PlainClient client;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  MysqlOptions options;
  std::unique_ptr<IEventRepository> store;
};

TEST_CASE_METHOD(DailyCounts, "a lower id that is committed late is counted when it is seen", "[rollup]") {
  prepare_for_locks();
  client.run("BEGIN");
  SECTION("unfinished: at once") {
    client.run(kInsert + row(10, "2026-05-12 10:00:00", 0));
    database.run(kInsert + row(11, "2026-05-12 11:00:00"));
    roll_up();
    CHECK(counts() == "2026-05-12 2 1");
    client.run("COMMIT");
    roll_up();
    CHECK(counts() == "2026-05-12 0 1, 2026-05-12 2 1");
  }
  SECTION("finished meanwhile: when its day is over") {
    client.run(kInsert + row(10, "2026-05-13 10:00:00"));
    database.run(kInsert + row(11, "2026-05-13 11:00:00"));
    roll_up();
    client.run("COMMIT");
    clock->set(parse_time("2026-05-14T00:30:00Z").value());
    roll_up();
    CHECK(counts() == "2026-05-13 2 1");
    clock->advance(45min);
    roll_up();
    CHECK(counts() == "2026-05-13 2 2");
  }
}

// A number that no count would give tells a day that was counted again from one that was not.
TEST_CASE_METHOD(DailyCounts, "a day that is over and done is not counted again", "[rollup]") {
  database.run(kInsert + row(1, "2026-05-03 10:00:00") + ", " + row(2, "2026-05-03 11:00:00", 3));
  roll_up();
  clock->advance(24h);
  roll_up();
  REQUIRE(counts() == "2026-05-03 2 1, 2026-05-03 3 1");
  database.run("UPDATE biz_event_stat SET event_count = 77 WHERE publish_status = 2");
  database.run(kInsert + row(3, "2026-05-14 10:00:00"));
  roll_up();
  CHECK(store->archive(store->now() + 24000h, 10) == 2);
  CHECK(store->purge(store->now() + 24000h, 10) == 2);
  roll_up();
  CHECK(counts() == "2026-05-03 2 77, 2026-05-03 3 1, 2026-05-14 2 1");
  database.run(kInsert + row(4, "2026-05-03 10:00:00"));
  roll_up();
  CHECK(counts() == "2026-05-03 2 2, 2026-05-03 3 1, 2026-05-14 2 1");
}

TEST_CASE_METHOD(DailyCounts, "deleted rows and statuses that are none are not counted", "[rollup]") {
  database.run(kInsert + row(1, "2026-05-03 10:00:00") + ", " + row(2, "2026-05-03 11:00:00", 9) + ", " +
               row(3, "2026-05-03 10:00:00"));
  database.run("UPDATE biz_outbox_event SET deleted = 1 WHERE id = 3");
  roll_up();
  CHECK(counts() == "2026-05-03 2 1");
  CHECK(store->rollup(10) == RollupResult{});
}

TEST_CASE_METHOD(DailyCounts, "a rollup waits for a purge that is at work", "[rollup]") {
  database.run(kInsert + row(1, "2026-05-03 10:00:00"));
  roll_up();
  client.run("BEGIN");
  client.run("SELECT value FROM waybill_counter WHERE name = 'rollup_cursor' FOR UPDATE");
  auto rolling = std::async(std::launch::async, [&] { return store->rollup(10); });
  const std::string waiting =
      "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'INSERT INTO "
      "waybill_counter%'";
  CHECK(eventually([&] { return database.value(waiting) != "0"; }));
  client.run("COMMIT");
  CHECK(rolling.get() == RollupResult{});
}

/// 20,000 finished events of 20 days, three unfinished ones.
class ManyDays : public SeedTable {
 protected:
  ManyDays() {
    write(
        "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
        "publish_channel, event_payload, publish_status, create_time) SELECT CONCAT('E', n), 'ORDER', '1', 'CREATED', "
        "'shop', 'MQ', '{}', IF(n < 3, 0, 2), '2026-05-01' + INTERVAL n * 86 SECOND FROM (SELECT a.d + 10 * b.d + 100 "
        "* c.d + 1000 * e.d + 10000 * f.d AS n FROM " +
        digits("a", 10) + ", " + digits("b", 10) + ", " + digits("c", 10) + ", " + digits("e", 10) + ", " +
        digits("f", 2) + ") AS numbers");
    ask("ANALYZE TABLE biz_outbox_event");
  }
  static std::string digits(const std::string& name, int count) {
    std::string text = "(SELECT 0 AS d";
    for (int digit = 1; digit < count; ++digit) text += " UNION SELECT " + std::to_string(digit);
    return text + ") AS " + name;
  }
  /// Rows of biz_outbox_event that the store's statements read, as the server counts them.
  std::int64_t rows_read(const std::string& sql) {
    const auto total = [&] {
      std::int64_t sum = 0;
      for (const auto& line : ask("SHOW SESSION STATUS LIKE 'Handler_read%'").rows) sum += std::stoll(line.at("Value"));
      return sum;
    };
    const std::int64_t before = total();
    (void)ask(sql);
    return total() - before;
  }
  static std::string filled(std::string sql, const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [what, by] : values)
      for (std::size_t at = sql.find(what); at != std::string::npos; at = sql.find(what, at + by.size()))
        sql.replace(at, what.size(), by);
    return sql;
  }
};

TEST_CASE_METHOD(ManyDays, "a rollup reads new events, unfinished ones and the days it counts, nothing else",
                 "[rollup]") {
  namespace texts = sql::mysql;
  const std::string day = "(TO_DAYS(create_time) - 719528)";
  const std::string highest = ask("SELECT MAX(id) AS id FROM biz_outbox_event").rows.at(0).at("id");
  CHECK(rows_read(filled(std::string(texts::changed_days),
                         {{"{day}", day}, {"{stat_day}", "(TO_DAYS(stat_date) - 719528)"}})) < 200);
  CHECK(rows_read(filled(std::string(texts::new_days), {{"{day}", day},
                                                        {"{table}", "biz_outbox_event"},
                                                        {"id > ?", "id > " + highest},
                                                        {"LIMIT ?", "LIMIT 100000"}})) < 200);
  const std::int64_t one_day = rows_read(
      filled(std::string(texts::count_day), {{"BETWEEN ? AND ?", "BETWEEN '2026-05-03' AND '2026-05-03 23:59:59.9'"}}));
  CHECK(one_day > 1000);
  CHECK(one_day < 2500);
}

}  // namespace
}  // namespace waybill::test
