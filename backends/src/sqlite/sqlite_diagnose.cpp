// `waybill doctor` for SQLite.

#include <sqlite3.h>
#include <sys/statvfs.h>

#include <filesystem>

#include "common/findings.hpp"
#include "sqlite/sqlite_repository.hpp"
#include "sqlite/sqlite_schema.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;
using Level = Finding::Level;
using backends::checked;

constexpr Duration kLeaseLeak = std::chrono::minutes{5};
constexpr Duration kClockSlack = std::chrono::minutes{5};
constexpr std::uint64_t kLowDisk = 64U << 20;
constexpr std::uint64_t kBigWal = 256U << 20;
constexpr std::uintmax_t kLargestCheck = 512U << 20;

std::string pragma_text(Statements& statements, std::string_view pragma) {
  const Query query(statements.get(pragma));
  return query->step() ? std::string(query->text(0)) : std::string{};
}

// Debian 12 ships 3.40.1; the bug is in 3.7.0 to 3.51.2 and was fixed in some older branches too.
bool has_wal_reset_bug(int version) {
  return version >= 3007000 && version < 3051003 && version != 3044006 && version != 3050007;
}

Finding version_finding() {
  const std::string version = sqlite3_libversion();
  if (!has_wal_reset_bug(sqlite3_libversion_number())) return {Level::ok, "sqlite-version", version, {}};
  return {
      Level::warning, "sqlite-version",
      version + " may lose commits when one connection commits while another checkpoints (fixed in 3.51.3)",
      "waybill avoids it on its own connections; every other program on this file needs PRAGMA wal_autocheckpoint=0 "
      "(SqliteOutbox::configure sets it)"};
}

Finding schema_finding(Statements& statements) {
  return {Level::ok, "schema", "version " + std::to_string(schema_version(statements)), {}};
}

Finding journal_finding(Statements& statements) {
  const std::string mode = pragma_text(statements, "PRAGMA journal_mode");
  if (mode == "wal") return {Level::ok, "journal-mode", mode, {}};
  return {Level::error, "journal-mode", mode + " instead of wal",
          "open the file once with `waybill init` while nobody else has it open"};
}

Finding vacuum_finding(Statements& statements) {
  if (statements.integer("PRAGMA auto_vacuum") == 2) return {Level::ok, "auto-vacuum", "incremental", {}};
  return {Level::warning, "auto-vacuum", "not incremental: purged space is used again, but the file never gets shorter",
          "once, with nobody on the file: sqlite3 FILE 'PRAGMA auto_vacuum=incremental; VACUUM;'"};
}

// The claim must search its three indexes; a scan would make it as slow as the table is long.
Finding plan_finding(Statements& statements) {
  struct Part {
    std::string_view text;
    std::string_view index;
  };
  for (const Part& part : {Part{texts::claim_retries, "idx_outbox_failed"},
                           Part{texts::claim_scheduled, "idx_outbox_new"}, Part{texts::claim_new, "idx_outbox_new"}}) {
    Statement plan(statements.db(), "EXPLAIN QUERY PLAN " + statements.texts().render(part.text, {{"what", "id"}}));
    std::string seen;
    while (plan.step()) seen += std::string(plan.text(3)) + "; ";
    const std::string index = statements.texts().render(part.index);
    if (seen.find("SEARCH") == std::string::npos || seen.find(index) == std::string::npos ||
        seen.find("TEMP B-TREE") != std::string::npos)
      return {Level::error, "claim-plan", seen, "run `waybill init`; if that does not help, REINDEX the file"};
  }
  return {
      Level::ok, "claim-plan", statements.texts().render("searches idx_outbox_failed and idx_outbox_new, no sort"), {}};
}

Finding order_finding(Statements& statements) {
  const bool there = has_index(statements, statements.texts().render("idx_outbox_order"));
  return {
      Level::ok, "order-index", there ? "there" : "not there; made when a relay first runs with --order aggregate", {}};
}

Finding lease_finding(Statements& statements, Timestamp now) {
  const Query old(statements.get(texts::count_expired));
  old->bind(1, now - kLeaseLeak);
  const std::int64_t expired = old->step() ? old->integer(0) : 0;
  const std::int64_t leaseless = statements.integer(texts::count_leaseless);
  if (leaseless != 0)
    return {Level::error, "leases",
            std::to_string(leaseless) + " events are in progress without a lease: set by a foreign program",
            "set lock_until of these rows to a past time; a relay then takes them back"};
  if (expired == 0) return {Level::ok, "leases", "none has leaked", {}};
  return {Level::warning, "leases",
          std::to_string(expired) + " leases ran out over 5 minutes ago and nobody took the events back",
          "start a relay: it recovers them"};
}

Finding clock_finding(Statements& statements, Timestamp now) {
  const Query newest(statements.get(texts::newest_time));
  if (!newest->step() || newest->time(0) <= now + kClockSlack) return {Level::ok, "clock", format_time(now), {}};
  return {Level::warning, "clock",
          "the newest event is from " + format_time(newest->time(0)) + ", now is " + format_time(now),
          "set the clock; order does not depend on it, but due times and leases do"};
}

Finding integrity_finding(Statements& statements, const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kLargestCheck)
    return {Level::ok, "integrity", "not checked: the file is large", {}};
  const std::string result = pragma_text(statements, "PRAGMA quick_check(1)");
  if (result == "ok") return {Level::ok, "integrity", "quick_check: ok", {}};
  return {Level::error, "integrity", result, "restore a copy, or open the file with recover=quarantine"};
}

Finding disk_finding(const std::string& path) {
  struct statvfs info {};
  const std::string folder = std::filesystem::absolute(path).parent_path();
  if (statvfs(folder.c_str(), &info) != 0) return {Level::warning, "disk", "unknown", "check the file's folder"};
  const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
  const std::string text = std::to_string(free >> 20) + " MiB free";
  if (free >= kLowDisk) return {Level::ok, "disk", text, {}};
  return {Level::warning, "disk", text, "free some space, or bound the buffer with max_bytes"};
}

Finding size_finding(Statements& statements, std::uint64_t wal) {
  const auto number = [&](std::string_view pragma) { return static_cast<std::uint64_t>(statements.integer(pragma)); };
  const std::uint64_t page = number("PRAGMA page_size");
  const std::string text = "file " + std::to_string(number("PRAGMA page_count") * page >> 10) + " KiB (" +
                           std::to_string(number("PRAGMA freelist_count") * page >> 10) + " KiB free in it), WAL " +
                           std::to_string(wal >> 10) + " KiB";
  if (wal < kBigWal) return {Level::ok, "size", text, {}};
  return {Level::warning, "size", text,
          "some program keeps a read transaction open, or no relay runs; close it, then the WAL shrinks"};
}

}  // namespace

std::vector<Finding> SqliteRepository::diagnose() {
  return guarded("doctor", [&] {
    std::vector<Finding> findings{version_finding(),
                                  schema_finding(statements()),
                                  journal_finding(statements()),
                                  vacuum_finding(statements()),
                                  checked("claim-plan", [&] { return plan_finding(statements()); }),
                                  order_finding(statements()),
                                  checked("leases", [&] { return lease_finding(statements(), now()); }),
                                  checked("clock", [&] { return clock_finding(statements(), now()); }),
                                  checked("integrity", [&] { return integrity_finding(statements(), options_.path); }),
                                  disk_finding(options_.path),
                                  size_finding(statements(), session_->connection.wal_bytes())};
    if (adopted())
      for (Finding& finding : adopted()->table().findings()) findings.push_back(std::move(finding));
    const std::optional<std::string> quarantined = note("quarantined");
    if (quarantined)
      findings.push_back({Level::warning, "quarantine", "a damaged file was set aside: " + *quarantined,
                          "save what is left of it, then remove it"});
    return findings;
  });
}

}  // namespace waybill::sqlite
