#include "mysql/seed_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace waybill::test {
namespace {

struct Setting {
  std::size_t server;
  bool full_indexes;
};

Setting next_setting() {
  const std::size_t servers = mysql_servers().size();
  const std::size_t at = GENERATE_COPY(range(std::size_t{0}, 2 * servers));
  return {at / 2, at % 2 == 0};
}

Setting current;

std::unique_ptr<MysqlDatabase> make_database() {
  current = next_setting();
  return std::make_unique<MysqlDatabase>(mysql_servers()[current.server], current.full_indexes);
}

}  // namespace

SqlAnswer ask(PlainClient& client, std::string_view sql) {
  MYSQL* handle = client.handle();
  const auto require = [&](bool went_well) {
    if (!went_well) throw std::runtime_error(std::string(sql) + ": " + mysql_error(handle));
  };
  require(mysql_real_query(handle, sql.data(), static_cast<unsigned long>(sql.size())) == 0);
  SqlAnswer answer;
  MYSQL_RES* result = mysql_store_result(handle);
  if (result == nullptr) {
    require(mysql_field_count(handle) == 0);
    answer.affected = mysql_affected_rows(handle);
    return answer;
  }
  const MYSQL_FIELD* fields = mysql_fetch_fields(result);
  while (const MYSQL_ROW row = mysql_fetch_row(result)) {
    auto& columns = answer.rows.emplace_back();
    for (unsigned at = 0; at < mysql_num_fields(result); ++at)
      columns[fields[at].name] = row[at] == nullptr ? "NULL" : row[at];
  }
  mysql_free_result(result);
  return answer;
}

SeedTable::SeedTable()
    : database(make_database()),
      store(open_mysql(database->options())),
      client(std::make_unique<PlainClient>(database->options())),
      name_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
            << mysql_servers()[current.server].name << (current.full_indexes ? ", full" : ", lean") << " indexes") {
  write("SET time_zone = '+00:00'");
}

Numbers SeedTable::numbers(std::string_view sql) {
  Numbers found;
  for (const auto& row : ask(sql).rows) found.push_back(row.at("event_no"));
  return found;
}

void SeedTable::place_order() {
  write("DROP TABLE IF EXISTS biz_order");
  write(
      "CREATE TABLE biz_order (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, order_no VARCHAR(64) NOT NULL, user_id BIGINT "
      "NOT NULL, order_amount DECIMAL(18, 2) NOT NULL, order_status TINYINT NOT NULL, create_time DATETIME NOT NULL, "
      "update_time DATETIME NOT NULL)");
  for (const std::string_view statement : seed::kOrderTransaction) write(statement);
}

Event SeedTable::order_event() {
  const std::optional<Event> event = store->find("OUTBOX_ORDER_CREATED_100000000000000001");
  REQUIRE(event.has_value());
  return *event;
}

Numbers SeedTable::deliver_all() {
  Numbers delivered;
  for (;;) {
    const ClaimResult claim = store->claim(claim_request());
    if (claim.events.empty() && !claim.more) return delivered;
    for (const Event& event : claim.events) {
      delivered.push_back(event.event_no);
      REQUIRE(settle(*store, settlement_of(event, Command::succeed)) == SettleStatus::applied);
    }
  }
}

}  // namespace waybill::test
