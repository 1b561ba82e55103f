#pragma once
// The loop one writes by hand in an afternoon, and well, on MySQL: the seed's indexes, READ COMMITTED, one connection;
// insert 100 rows with one statement, claim with SELECT … FOR UPDATE SKIP LOCKED in index order and an UPDATE by id,
// settle row by row; a transaction each.

#include "loop.hpp"
#include "mysql_client.hpp"

namespace waybill::bench {

class NaiveMysqlLoop final : public Loop {
 public:
  explicit NaiveMysqlLoop(const Url& database) : client_(database) {}
  /// Makes the tables.
  static void create(const Url& database);

  void append(std::span<const NewEvent> events) override;
  std::size_t relay(std::size_t limit) override;
  void finish() override {}

 private:
  MysqlClient client_;
};

}  // namespace waybill::bench
