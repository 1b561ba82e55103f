#include "naive_mysql.hpp"

#include <optional>
#include <stdexcept>

#include "waybill/backends/mysql.hpp"

namespace waybill::bench {
namespace {

constexpr const char* kSeedsOwn =
    "ALTER TABLE biz_outbox_event DROP KEY idx_aggregate, ADD KEY idx_aggregate (aggregate_type, aggregate_id)";

constexpr const char* kInsert =
    "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, "
    "publish_channel, topic, routing_key, event_payload, event_headers, trace_id, remark, max_retry_count, "
    "create_time, update_time) VALUES ";

constexpr const char* kClaim =
    "SELECT id, version, event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, "
    "publish_channel, topic, routing_key, event_payload, event_headers, retry_count, max_retry_count, trace_id, "
    "create_time FROM biz_outbox_event FORCE INDEX (idx_status_retry_time) "
    "WHERE deleted = 0 AND publish_status = 0 AND next_retry_time IS NULL "
    "ORDER BY retry_count, id LIMIT ";

std::string or_null(MysqlClient& client, const std::optional<std::string>& text) {
  return text ? client.quoted(*text) : "NULL";
}

}  // namespace

void NaiveMysqlLoop::create(const Url& database) {
  MysqlOptions options = mysql_options(database, {});
  options.full_indexes = true;
  options.mode = OpenMode::create;
  static_cast<void>(open_mysql(options));
  MysqlClient(database).run(kSeedsOwn);
}

void NaiveMysqlLoop::append(std::span<const NewEvent> events) {
  std::string sql = kInsert;
  for (const NewEvent& event : events) {
    sql += sql.back() == ' ' ? "(" : ",(";
    for (const std::string* text : {&event.event_no, &event.aggregate_type, &event.aggregate_id, &event.event_type})
      sql += client_.quoted(*text) + ",";
    sql += std::to_string(event.event_version) + "," + client_.quoted(event.event_source) + "," +
           client_.quoted(event.publish_channel) + "," + or_null(client_, event.topic) + "," +
           or_null(client_, event.routing_key) + "," + client_.quoted(event.event_payload) + "," +
           or_null(client_, event.event_headers) + "," + or_null(client_, event.trace_id) + "," +
           or_null(client_, event.remark) + "," + std::to_string(event.max_retry_count) + ",NOW(6),NOW(6))";
  }
  client_.run("START TRANSACTION");
  client_.run(sql);
  client_.run("COMMIT");
}

std::size_t NaiveMysqlLoop::relay(std::size_t limit) {
  client_.run("START TRANSACTION");
  const auto rows = client_.query(kClaim + std::to_string(limit) + " FOR UPDATE SKIP LOCKED");
  std::string ids;
  for (const MysqlClient::Row& row : rows) ids += (ids.empty() ? "" : ",") + row.front();
  if (!rows.empty())
    client_.run(
        "UPDATE biz_outbox_event SET publish_status = 1, locked_by = 'bench', lock_until = NOW(6) + INTERVAL 30 "
        "SECOND, "
        "last_publish_time = NOW(6), version = version + 1, update_time = NOW(6) WHERE id IN (" +
        ids + ")");
  client_.run("COMMIT");
  if (rows.empty()) return 0;
  client_.run("START TRANSACTION");
  for (const MysqlClient::Row& row : rows) {
    client_.run(
        "UPDATE biz_outbox_event SET publish_status = 2, published_time = NOW(6), fail_reason = NULL, locked_by = "
        "NULL, "
        "lock_until = NULL, update_time = NOW(6) WHERE id = " +
        row.front() + " AND publish_status = 1 AND locked_by = 'bench'");
    if (client_.changed() != 1) throw std::runtime_error("the hand-written loop lost a claim");
  }
  client_.run("COMMIT");
  return rows.size();
}

}  // namespace waybill::bench
