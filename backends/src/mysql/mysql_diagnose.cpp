// `waybill doctor` for MySQL and MariaDB.

#include "common/findings.hpp"
#include "mysql/mysql_repository.hpp"
#include "mysql/mysql_schema.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;
using Level = Finding::Level;
using backends::checked;

constexpr Duration kClockSlack = std::chrono::seconds{5};

std::string number(std::int64_t value) { return std::to_string(value); }

Finding server_finding(Connection& connection) {
  return {Level::ok,
          "server",
          connection.server_version() + ", client library " + mysql_get_client_info() +
              (kMariadbConnector ? " (MariaDB Connector/C)" : ""),
          {}};
}

Finding schema_finding(Statements& statements) {
  return {Level::ok, "schema", "version " + number(schema_version(statements)), {}};
}

Finding index_finding(Statements& statements) {
  const auto indexes = indexes_of(statements, "biz_outbox_event");
  for (const char* name : {"uk_event_no", "idx_status_retry_time", "idx_aggregate"})
    if (indexes.find(name) == indexes.end())
      return {Level::error, "indexes", std::string(name) + " is missing",
              "create it as `waybill init --print-sql` shows it"};
  const bool ordered = indexes.at("idx_aggregate").find("publish_status") != std::string::npos;
  if (!ordered)
    return {Level::warning, "indexes", "idx_aggregate has no publish_status: ordered claims read finished events too",
            "ALTER TABLE biz_outbox_event DROP KEY idx_aggregate, ADD KEY idx_aggregate (aggregate_type, aggregate_id, "
            "publish_status)"};
  return {Level::ok, "indexes", number(static_cast<std::int64_t>(indexes.size())) + " on biz_outbox_event", {}};
}

Finding session_finding(Statements& statements) {
  const Query row(statements.get(texts::session_facts));
  (void)row->next();
  const std::string mode(row->text(1));
  const std::string seen = "isolation READ COMMITTED, time zone UTC; the server's own: time zone " +
                           std::string(row->text(0)) + ", sql_mode " + mode;
  if (mode.find("STRICT_TRANS_TABLES") != std::string::npos || mode.find("STRICT_ALL_TABLES") != std::string::npos)
    return {Level::ok, "session", seen, {}};
  return {Level::warning, "session", seen + ": plain SQL of other programs is cut to fit, silently",
          "SET GLOBAL sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')"};
}

// A snapshot that stays open keeps what was settled since from being purged, and every scan walks it.
Finding transaction_finding(Statements& statements) {
  try {
    const Query row(statements.get(texts::old_transactions));
    if (!row->next() || row->integer(0) == 0) return {Level::ok, "transactions", "none is older than a minute", {}};
    return {Level::warning, "transactions",
            number(row->integer(0)) + " older than a minute, the oldest " + number(row->integer(1)) +
                " s: they hold back purge, and claims become slow",
            "see information_schema.innodb_trx; end them, or KILL " + number(row->integer(2))};
  } catch (const StorageError& error) {
    if (error.code() != ErrorCode::denied) throw;
    return {Level::ok, "transactions", "not visible to this user (PROCESS)", {}};
  }
}

Finding charset_finding(Statements& statements) {
  const Query row(statements.get(texts::table_collation));
  const std::string collation = row->next() ? std::string(row->text(0)) : std::string{};
  if (collation.rfind("utf8mb4", 0) == 0) return {Level::ok, "charset", collation, {}};
  return {Level::error, "charset", collation + " can't hold every character",
          "ALTER TABLE biz_outbox_event CONVERT TO CHARACTER SET utf8mb4"};
}

Finding clock_finding(Timestamp server) {
  const Duration offset = SystemClock{}.now() - server;
  const std::string seen = "this machine is " + number(std::chrono::abs(offset).count() / 1000) + " ms " +
                           (offset.count() >= 0 ? "ahead of" : "behind") + " the server";
  if (std::chrono::abs(offset) < kClockSlack) return {Level::ok, "clock", seen, {}};
  return {Level::warning, "clock", seen,
          "set the clocks; leases and due times follow the server's, so nothing is lost by it"};
}

Finding lease_finding(Statements& statements) {
  const std::int64_t leaseless = statements.integer(texts::count_leaseless);
  if (leaseless != 0)
    return {Level::error, "leases",
            number(leaseless) + " events are in progress without a lease: set by a foreign program",
            "set lock_until of these rows to a past time; a relay then takes them back"};
  const std::int64_t expired = statements.integer(texts::count_expired);
  if (expired == 0) return {Level::ok, "leases", "none has leaked", {}};
  return {Level::warning, "leases",
          number(expired) + " leases ran out over 5 minutes ago and nobody took the events back",
          "start a relay: it recovers them"};
}

// The claim must walk its index in order: a sort would lock every candidate, a scan would read every finished row.
Finding plan_finding(Statements& statements, bool seed_index) {
  Statement plan = statements.prepare("EXPLAIN FORMAT=TRADITIONAL " + std::string(texts::claim_new),
                                      {{"fresh", seed_index ? "AND retry_count = 0" : ""}});
  plan.add(std::int64_t{0}).add(std::int64_t{100});
  const Query row(plan);
  if (!row->next()) return {Level::error, "claim-plan", "the server gave no plan", "run CHECK TABLE biz_outbox_event"};
  constexpr int kColumns = 12;  // of EXPLAIN; MariaDB has two fewer
  const int columns = row->columns();
  const std::string key(row->text(columns == kColumns ? 6 : 5));
  const std::string extra(row->text(columns - 1));
  // A number from the one server, a text from the other.
  const int rows_column = columns == kColumns ? 9 : 8;
  const std::string rows =
      row->is_text(rows_column) ? std::string(row->text(rows_column)) : number(row->integer(rows_column));
  const std::string seen = "key " + key + ", rows " + rows + (extra.empty() ? "" : ", " + extra);
  if (key == "idx_status_retry_time" && extra.find("filesort") == std::string::npos)
    return {Level::ok, "claim-plan", seen, {}};
  return {Level::error, "claim-plan", seen, "run `waybill init`, then ANALYZE TABLE biz_outbox_event"};
}

}  // namespace

std::vector<Finding> MysqlRepository::diagnose() {
  return read("doctor", [&] {
    Statements& all = statements();
    const bool seed_index = !adopted() && claim_index_is_the_seeds(session_->connection);
    std::vector<Finding> findings{server_finding(session_->connection),
                                  schema_finding(all),
                                  checked("indexes", [&] { return index_finding(all); }),
                                  checked("claim-plan", [&] { return plan_finding(all, seed_index); }),
                                  checked("charset", [&] { return charset_finding(all); }),
                                  checked("session", [&] { return session_finding(all); }),
                                  checked("clock", [&] { return clock_finding(session_->connection.now()); }),
                                  checked("transactions", [&] { return transaction_finding(all); }),
                                  checked("leases", [&] { return lease_finding(all); })};
    if (adopted())
      for (Finding& finding : adopted()->table().findings()) findings.push_back(std::move(finding));
    return findings;
  });
}

}  // namespace waybill::mysql
