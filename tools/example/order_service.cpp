// An order service with a transactional outbox: each order and its event are committed together, or neither is.
// It knows its own SQLite connection and waybill's SqliteOutbox; who delivers the events, and when, is not its
// business.

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "waybill/backends/sqlite.hpp"

namespace {

constexpr std::int64_t kCreditLimitCents = 100'000;

struct CardDeclined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Order {
  std::int64_t id{0};
  std::string customer;
  std::int64_t amount_cents{0};
};

SQLite::Database open_database(const std::string& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  waybill::SqliteOutbox::configure(database.getHandle());
  return database;
}

class OrderService {
 public:
  explicit OrderService(const std::string& path) : database_(open_database(path)), outbox_(database_.getHandle()) {
    database_.exec(
        "CREATE TABLE IF NOT EXISTS biz_order (id INTEGER PRIMARY KEY, customer TEXT NOT NULL, "
        "amount_cents INTEGER NOT NULL, state TEXT NOT NULL)");
  }

  /// Throws CardDeclined; then neither the order nor its event is there.
  Order place(const std::string& customer, std::int64_t amount_cents) {
    SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement insert(database_,
                             "INSERT INTO biz_order (customer, amount_cents, state) VALUES (?, ?, 'placed')");
    insert.bind(1, customer);
    insert.bind(2, amount_cents);
    insert.exec();
    const Order order{database_.getLastInsertRowid(), customer, amount_cents};
    publish("ORDER_PLACED", order);

    // The check comes last on purpose: the destructor of `transaction` takes both rows back.
    if (amount_cents > kCreditLimitCents) throw CardDeclined("the card of " + customer + " was declined");
    transaction.commit();
    return order;
  }

  void pay(const Order& order) {
    SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement update(database_, "UPDATE biz_order SET state = 'paid' WHERE id = ?");
    update.bind(1, order.id);
    update.exec();
    publish("ORDER_PAID", order);
    transaction.commit();
  }

  [[nodiscard]] int count(const std::string& sql) { return database_.execAndGet(sql).getInt(); }

 private:
  /// Within the caller's transaction.
  void publish(const std::string& type, const Order& order) {
    waybill::NewEvent event;
    event.event_no = type + ":" + std::to_string(order.id);
    event.aggregate_type = "ORDER";
    event.aggregate_id = std::to_string(order.id);
    event.event_type = type;
    event.event_source = "order-service";
    event.topic = "orders";
    event.event_payload =
        nlohmann::json{{"order", order.id}, {"customer", order.customer}, {"amount_cents", order.amount_cents}}.dump();
    const waybill::AppendResult result = outbox_.append(event);
    if (result.status == waybill::AppendStatus::conflict)
      throw std::runtime_error("event " + event.event_no + " exists with another " + result.difference);
  }

  SQLite::Database database_;
  waybill::SqliteOutbox outbox_;
};

void run(const std::string& path) {
  OrderService service(path);

  const Order first = service.place("Ada", 5990);
  std::cout << "order " << first.id << " of Ada: committed with its event ORDER_PLACED\n";
  const Order second = service.place("Grace", 1250);
  std::cout << "order " << second.id << " of Grace: committed with its event ORDER_PLACED\n";
  service.pay(first);
  std::cout << "order " << first.id << " is paid: committed with its event ORDER_PAID\n";

  const std::string count_orders = "SELECT COUNT(*) FROM biz_order";
  const std::string count_events = "SELECT COUNT(*) FROM biz_outbox_event WHERE aggregate_type = 'ORDER'";
  const int orders = service.count(count_orders);
  const int events = service.count(count_events);
  try {
    (void)service.place("Mallory", 999'900);
  } catch (const CardDeclined& error) {
    std::cout << "order of Mallory: rolled back on purpose (" << error.what() << ")\n";
  }
  if (service.count(count_orders) != orders || service.count(count_events) != events)
    throw std::logic_error("the rolled back order left something behind");
  std::cout << "in the file: " << orders << " orders, " << events << " events, nothing of the rolled back order\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: order_service FILE   (a file that `waybill init --store sqlite:FILE` made)\n";
    return 2;
  }
  try {
    run(argv[1]);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "order_service: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
