// How the servers mean to find rows among 20,000 of which most are done: waybill's claim and the seed's statements.

#include <sstream>

#include "mysql/seed_table.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::test {
namespace {

/// EXPLAIN of a statement on one table.
struct Plan {
  std::string key;
  std::string extra;
  std::uint64_t rows{0};

  [[nodiscard]] bool sorts() const { return extra.find("filesort") != std::string::npos; }
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

class FullTable : public SeedTable {
 protected:
  FullTable() {
    // Numbers from 0 to 19,999, in the states: 19,000 succeeded, 400 pending, 100 of them to come, 300 retries that are
    // due, 200 that are not, 100 in progress with a lease that runs.
    write(
        "INSERT INTO biz_outbox_event (id, event_no, aggregate_type, aggregate_id, event_type, event_source, "
        "publish_channel, topic, event_payload, publish_status, retry_count, next_retry_time, lock_until, locked_by) "
        "SELECT 1 + n, CONCAT('E', n), 'ORDER', n MOD 500, 'ORDER_CREATED', 'shop', 'MQ', 'order.event', '{}', "
        "CASE WHEN n < 19000 THEN 2 WHEN n < 19400 THEN 0 WHEN n < 19900 THEN 3 ELSE 1 END, "
        "CASE WHEN n BETWEEN 19400 AND 19899 THEN 1 ELSE 0 END, "
        "CASE WHEN n BETWEEN 19300 AND 19399 OR n BETWEEN 19700 AND 19899 THEN UTC_TIMESTAMP(6) + INTERVAL 1 DAY "
        "WHEN n BETWEEN 19400 AND 19699 THEN UTC_TIMESTAMP(6) - INTERVAL n SECOND END, "
        "CASE WHEN n >= 19900 THEN UTC_TIMESTAMP(6) + INTERVAL 1 DAY END, CASE WHEN n >= 19900 THEN 'relay' END "
        "FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM " +
        digits("a") + ", " + digits("b") + ", " + digits("c") + ", " + digits("e") + ", " + digits("f", 2) +
        ") AS numbers");
    ask("ANALYZE TABLE biz_outbox_event");
    if (database->value("SELECT VERSION()").find("MariaDB") == std::string::npos)
      write("SET explain_format = 'TRADITIONAL'");
  }

  Plan plan(const std::string& sql) {
    INFO(sql);
    const SqlAnswer answer = ask("EXPLAIN " + sql);
    REQUIRE(answer.rows.size() == 1);
    const auto& row = answer.rows.front();
    return {row.at("key"), row.at("Extra"), std::stoull(row.at("rows"))};
  }
  /// A statement of waybill's own as the store sends it, with values in its places.
  Plan own_plan(std::string_view text, const std::string& list = "19001, 19002, 19003") {
    const bool seed_index = database->options().full_indexes;
    std::string sql = replaced(replaced(std::string(text), "{columns}", "*"), "{lean}", "*");
    sql = replaced(sql, "{order}", "next_retry_time");
    sql = replaced(sql, "{fresh}", seed_index ? "AND retry_count = 0" : "");
    sql = replaced(sql, "{list}", list);
    for (const char* part : {"{from:claim}", "{from:succeed}"})
      sql = replaced(sql, part, std::string("publish_status IN (") + (part[6] == 'c' ? "0, 3)" : "1)"));
    sql = replaced(replaced(sql, "{to:claim}", "1"), "{to:succeed}", "2");
    sql = replaced(sql, "{dead}", "(publish_status = 3 AND next_retry_time IS NULL)");
    sql = replaced(sql, "version = ?", "version = 1");
    sql = replaced(replaced(sql, "LIMIT ?", "LIMIT 100"), "id > ?", "id > 0");
    sql = replaced(sql, "id <= ?", "id <= 1000000");
    return plan(replaced(sql, "?", "'2026-05-13 10:00:00'"));
  }

 private:
  static std::string digits(const std::string& name, int count = 10) {
    std::string text = "(SELECT 0 AS d";
    for (int digit = 1; digit < count; ++digit) text += " UNION SELECT " + std::to_string(digit);
    return text + ") AS " + name;
  }
};

TEST_CASE_METHOD(FullTable, "MySQL plans: a claim walks idx_status_retry_time and sorts nothing", "[seed]") {
  namespace texts = sql::mysql;
  std::vector<std::string_view> scans{texts::claim_new, texts::look_new, texts::look_retries, texts::look_scheduled};
  if (database->options().full_indexes) scans.push_back(texts::look_released);
  for (const std::string_view text : scans) {
    const Plan claim = own_plan(text);
    INFO(text);
    CHECK(claim.key == "idx_status_retry_time");
    CHECK_FALSE(claim.sorts());
    CHECK(claim.rows < 1000);
  }
  for (const std::string_view text :
       {texts::lock_rows, texts::unsettled_rows, texts::claim_rows, texts::settle_succeed}) {
    const Plan rows = own_plan(text);
    INFO(text);
    CHECK(rows.key == "PRIMARY");
    CHECK(rows.rows <= 3);
  }
}

TEST_CASE_METHOD(FullTable, "MySQL plans: the seed's statements find their indexes", "[seed]") {
  const Plan retries = plan(std::string(seed::kRetryable));
  CHECK(retries.key == "idx_status_retry_time");
  CHECK_FALSE(retries.sorts());
  write("UPDATE biz_outbox_event SET event_no = 'OUTBOX202605130001' WHERE id = 1");
  CHECK(plan(std::string(seed::kByNumber)).key == "uk_event_no");
  CHECK(plan(std::string(seed::kOfAggregate)).key == "idx_aggregate");
  write("UPDATE biz_outbox_event SET id = 200000000000000001 WHERE id = 19001");
  for (const std::string_view text : {seed::kClaim, seed::kSucceed, seed::kFail, seed::kCancel}) {
    const Plan update = plan(std::string(text));
    INFO(text);
    CHECK(update.key == "PRIMARY");
    CHECK(update.rows == 1);
  }
  if (!database->options().full_indexes) return;
  const Plan recovery = plan(std::string(seed::kLeaseRanOut));
  CHECK(recovery.key == "idx_status_lock_until");
  CHECK_FALSE(recovery.sorts());
}

}  // namespace
}  // namespace waybill::test
