#pragma once
// A table of `waybill init`, and somebody who knows it from the seed only.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mysql/mysql_fixture.hpp"
#include "mysql/seed_statements.hpp"

namespace waybill::test {

/// What a statement brought. Columns by name; NULL is "NULL".
struct SqlAnswer {
  std::vector<std::map<std::string, std::string>> rows;
  std::uint64_t affected{0};  ///< rows that were changed
};
[[nodiscard]] SqlAnswer ask(PlainClient& client, std::string_view sql);

/// Use with TEST_CASE_METHOD: the test runs on each server with the full set of indexes and with the lean one.
class SeedTable {
 protected:
  SeedTable();

  SqlAnswer ask(std::string_view sql) { return test::ask(*client, sql); }
  /// How many rows a write changed.
  std::uint64_t write(std::string_view sql) { return ask(sql).affected; }
  /// The event numbers that a query brings.
  Numbers numbers(std::string_view sql);
  /// Runs the seed's transaction of the order service, whose table is made.
  void place_order();
  /// The event of that order.
  [[nodiscard]] Event order_event();
  /// Delivers all that is due through the repository.
  Numbers deliver_all();

  std::unique_ptr<MysqlDatabase> database;
  std::unique_ptr<IEventRepository> store;
  std::unique_ptr<PlainClient> client;  ///< in UTC, as waybill's times are

 private:
  Catch::ScopedMessage name_;
};

}  // namespace waybill::test
