#include "adopted/tables.hpp"

namespace waybill::test {

void create_local_message_table(Shop& shop) {
  shop.run(R"(CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    business_id VARCHAR(64) NOT NULL,
    message_type VARCHAR(64) NOT NULL,
    payload TEXT NOT NULL,
    status VARCHAR(16) NOT NULL DEFAULT 'PENDING',
    retry_count INT DEFAULT 0,
    create_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    update_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX idx_status_create ON outbox (status, create_time);
CREATE INDEX idx_business_id ON outbox (business_id))",
           seed::kLocalMessageTable);
}

void create_domain_event_table(Shop& shop) {
  shop.run(R"(CREATE TABLE domain_event_outbox (
    event_id VARCHAR(64) NOT NULL PRIMARY KEY,
    aggregate_type VARCHAR(64) NOT NULL,
    aggregate_id VARCHAR(64) NOT NULL,
    event_name VARCHAR(128) NOT NULL,
    payload TEXT NOT NULL,
    status TINYINT NOT NULL DEFAULT 0))");
  shop.run("CREATE INDEX idx_status ON domain_event_outbox (status)");
}

std::string message_table_text(const Shop& shop) {
  std::string text(seed::kMessageTable);
  const std::string collation = "utf8mb4_0900_ai_ci";
  if (shop.is_mariadb()) text.replace(text.find(collation), collation.size(), "utf8mb4_uca1400_ai_ci");
  return text;
}

void create_message_table(Shop& shop) {
  shop.run(R"(CREATE TABLE biz_message_event (
    id BIGINT NOT NULL PRIMARY KEY, event_no VARCHAR(64) NOT NULL, event_type VARCHAR(64) NOT NULL,
    biz_type VARCHAR(64) NOT NULL, biz_id VARCHAR(64) NOT NULL, event_source VARCHAR(64) NOT NULL,
    event_payload JSON NOT NULL, event_status TINYINT NOT NULL DEFAULT 0, retry_count INT NOT NULL DEFAULT 0,
    max_retry_count INT NOT NULL DEFAULT 3, next_retry_time DATETIME, last_handle_time DATETIME, success_time DATETIME,
    fail_reason VARCHAR(1000), trace_id VARCHAR(128), remark VARCHAR(500), version INT NOT NULL DEFAULT 0,
    deleted TINYINT NOT NULL DEFAULT 0, create_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    update_time DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP))",
           message_table_text(shop));
}

std::string place_order(Shop& shop, const std::string& business_id, const std::string& payload) {
  shop.run("INSERT INTO outbox (business_id, message_type, payload) VALUES ('" + business_id + "', 'ORDER_CREATED', '" +
           payload + "')");
  return "outbox:" + shop.value(shop.is_sqlite() ? "SELECT last_insert_rowid()" : "SELECT LAST_INSERT_ID()");
}

void record_event(Shop& shop, const std::string& event_id, const std::string& aggregate_id) {
  shop.run(
      "INSERT INTO domain_event_outbox (event_id, aggregate_type, aggregate_id, event_name, payload, status) VALUES "
      "('" +
      event_id + "', 'Order', '" + aggregate_id + "', 'OrderCreated', '{\"id\":\"" + event_id + "\"}', 0)");
}

std::string order_state(Shop& shop, const std::string& columns, const std::string& event_no) {
  return shop.value("SELECT " + columns + " FROM outbox WHERE id = " + event_no.substr(event_no.find(':') + 1));
}

std::string toml_of(const TableModel& model) {
  const auto pairs = [](const std::map<std::string, std::string>& all) {
    std::string text;
    for (const auto& [name, value] : all) text += name + " = \"" + value + "\"\n";
    return text;
  };
  std::string text = "[table]\nname = \"" + model.table + "\"\ndelivery_table = \"" + model.delivery_table +
                     "\"\norder = \"" + model.order + "\"\ntime_zone = \"" + model.time_zone + "\"\nfilter = \"" +
                     model.filter + "\"\n[table.columns]\n" + pairs(model.columns) + "[table.constants]\n" +
                     pairs(model.constants) + "[table.status]\n";
  const StatusValues& status = model.status;
  const std::string quote = status.text ? "\"" : "";
  for (const auto& [name, values] :
       {std::pair{"pending", &status.pending}, std::pair{"in_progress", &status.in_progress},
        std::pair{"retrying", &status.retrying}, std::pair{"succeeded", &status.succeeded},
        std::pair{"failed", &status.failed}, std::pair{"cancelled", &status.cancelled}}) {
    text += std::string(name) + " = [";
    for (const std::string& value : *values) text += quote + value + quote + ",";
    text += "]\n";
  }
  return text;
}

}  // namespace waybill::test
