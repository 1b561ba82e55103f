// A program with a transactional outbox, made to be killed: commits orders, each with its event in the same
// transaction, and prints each number after its commit. usage: waybill_crash_orders FILE

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "waybill/backends/sqlite.hpp"

namespace {

constexpr std::int64_t kRollBackEvery = 7;

waybill::NewEvent event_of(std::int64_t order) {
  waybill::NewEvent event;
  event.event_no = "order-" + std::to_string(order);
  event.aggregate_type = "ORDER";
  event.aggregate_id = std::to_string(order % 10);
  event.event_type = "ORDER_PLACED";
  event.event_payload = R"({"order":)" + std::to_string(order) + R"(,"text":")" + std::string(300, 'x') + R"("})";
  return event;
}

/// A number that is rolled back is never used again: neither its order nor its event may be found later.
void place(SQLite::Database& database, waybill::SqliteOutbox& outbox, std::int64_t order) {
  SQLite::Transaction transaction{database, SQLite::TransactionBehavior::IMMEDIATE};
  SQLite::Statement insert{database, "INSERT INTO biz_order (id) VALUES (?)"};
  insert.bind(1, order);
  insert.exec();
  if (outbox.append(event_of(order)).status != waybill::AppendStatus::inserted)
    throw std::runtime_error("order " + std::to_string(order) + " has an event already");
  if (order % kRollBackEvery == 0) return;
  transaction.commit();
  std::cout << order << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    SQLite::Database database{argv[1], SQLite::OPEN_READWRITE};
    waybill::SqliteOutbox::configure(database.getHandle(), std::chrono::seconds{30});
    database.exec("CREATE TABLE IF NOT EXISTS biz_order (id INTEGER PRIMARY KEY)");
    waybill::SqliteOutbox outbox{database.getHandle()};
    std::int64_t order = database.execAndGet("SELECT coalesce(max(id), 0) FROM biz_order").getInt64();
    while (std::cout) place(database, outbox, ++order);
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "waybill_crash_orders: " << error.what() << "\n";
    return 1;
  }
}
