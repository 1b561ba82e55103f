// Tables of `waybill init`, by both servers.

#include "support/catch.hpp"
#include "support/mysql_server.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::test {
namespace {

TEST_CASE("init may be repeated and keeps the rows", "[schema]") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    MysqlDatabase database(server);
    database.run("INSERT INTO waybill_note (name, value) VALUES ('kept', 'yes')");
    MysqlOptions options = database.options();
    options.mode = OpenMode::create;
    const auto repository = open_mysql(options);
    CHECK(repository->note("kept") == "yes");
  }
}

}  // namespace
}  // namespace waybill::test
