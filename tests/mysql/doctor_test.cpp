// `waybill doctor` on a server: what is wrong, where, what to do.

#include "mysql/mysql_fixture.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

Finding finding_of(IEventRepository& store, const std::string& name) {
  for (const Finding& finding : store.diagnose())
    if (finding.name == name) return finding;
  FAIL("doctor has no finding '" << name << "'");
  return {};
}

TEST_CASE("doctor finds a fresh database good, on both servers", "[doctor]") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    const MysqlDatabase database(server, true);
    const auto store = open_mysql(database.options());
    for (const Finding& finding : store->diagnose()) {
      INFO(finding.name << ": " << finding.detail);
      CHECK(finding.level == Finding::Level::ok);
      CHECK(finding.advice.empty());
    }
    CHECK_THAT(finding_of(*store, "claim-plan").detail, Contains("idx_status_retry_time"));
  }
}

TEST_CASE("doctor names what a foreign hand broke", "[doctor]") {
  for (const MysqlServer& server : mysql_servers()) {
    INFO(server.name);
    MysqlDatabase database(server);
    const auto store = open_mysql(database.options());
    (void)claimed(*store, "E1");
    database.run("UPDATE biz_outbox_event SET lock_until = NULL");
    CHECK(finding_of(*store, "leases").level == Finding::Level::error);
    database.run("UPDATE biz_outbox_event SET lock_until = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
    CHECK(finding_of(*store, "leases").level == Finding::Level::warning);

    database.run("ALTER TABLE biz_outbox_event RENAME INDEX idx_aggregate TO idx_other");
    const Finding indexes = finding_of(*store, "indexes");
    CHECK(indexes.level == Finding::Level::error);
    CHECK_THAT(indexes.detail, Contains("idx_aggregate"));
    CHECK_THAT(indexes.advice, Contains("--print-sql"));
    database.run("ALTER TABLE biz_outbox_event RENAME INDEX idx_status_retry_time TO idx_elsewhere");
    CHECK(finding_of(*store, "claim-plan").level == Finding::Level::error);
    database.run(
        "ALTER TABLE biz_outbox_event RENAME INDEX idx_elsewhere TO idx_status_retry_time, "
        "RENAME INDEX idx_other TO idx_aggregate");
    CHECK(finding_of(*store, "indexes").level == Finding::Level::ok);
  }
}

}  // namespace
}  // namespace waybill::test
