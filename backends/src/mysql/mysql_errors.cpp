#include "mysql/mysql_errors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace waybill::mysql {
namespace {

struct Row {
  unsigned number;
  ErrorCode meaning;
  const char* advice;
};

constexpr std::array<Row, 49> kRows{{
    {1205, ErrorCode::busy, "another session holds the lock; try again"},
    {1213, ErrorCode::busy, "deadlock: the server rolled the transaction back; try again"},
    {3101, ErrorCode::busy, "the cluster rolled the transaction back; try again"},
    {3572, ErrorCode::busy, "another session holds the lock; try again"},
    {1317, ErrorCode::busy, "the statement was stopped (KILL QUERY); try again"},
    {1969, ErrorCode::busy, "the statement took longer than the server's max_statement_time"},
    {3024, ErrorCode::busy, "the statement took longer than the server's max_execution_time"},
    {1040, ErrorCode::unavailable, "the server has no connection left; raise max_connections or run fewer relays"},
    {1129, ErrorCode::unavailable, "the server blocks this machine after many failed connections; FLUSH HOSTS there"},
    {1203, ErrorCode::unavailable, "this user has no connection left (max_user_connections)"},
    {1226, ErrorCode::unavailable, "this user has used up a quota"},
    {1053, ErrorCode::unavailable, "the server is shutting down"},
    {1927, ErrorCode::unavailable, "the connection was killed"},
    {4031, ErrorCode::unavailable, "the server closed the idle connection (wait_timeout)"},
    {1290, ErrorCode::unavailable, "the server is read-only: a replica, or a failover is under way"},
    {1792, ErrorCode::unavailable, "the server is read-only: a replica, or a failover is under way"},
    {1836, ErrorCode::unavailable, "the server is read-only: a replica, or a failover is under way"},
    {1047, ErrorCode::unavailable, "the cluster's node is not ready"},
    {2002, ErrorCode::unavailable, "no server answers there; check that it runs, and host, port or socket"},
    {2003, ErrorCode::unavailable, "no server answers there; check that it runs, and host and port"},
    {2005, ErrorCode::unavailable, "the host is unknown; check its name"},
    {2006, ErrorCode::unavailable, "the connection is gone"},
    {2013, ErrorCode::unavailable, "the connection was lost"},
    {kTlsError, ErrorCode::unavailable, "TLS failed; check tls= and tls_ca="},
    {1045, ErrorCode::denied, "check user and password, and what the server says of them"},
    {1130, ErrorCode::denied, "the server admits nobody from this machine; create the user for it"},
    {1698, ErrorCode::denied, "check user and password"},
    {1044, ErrorCode::denied, "the user may not use this database; GRANT it"},
    {1142, ErrorCode::denied,
     "the user lacks this right; delivery needs SELECT, INSERT, UPDATE and DELETE, `waybill init` also "
     "CREATE, ALTER and INDEX"},
    {1143, ErrorCode::denied, "the user lacks a right on this column"},
    {1227, ErrorCode::denied, "the user lacks a right"},
    {1049, ErrorCode::schema, "the database does not exist; create it: CREATE DATABASE"},
    {1046, ErrorCode::schema, "name the database in the URL"},
    {1146, ErrorCode::schema, "a table is missing; create it with `waybill init`"},
    {1054, ErrorCode::schema, "a column is missing; run `waybill init`, then `waybill doctor`"},
    {1176, ErrorCode::schema, "an index is missing; run `waybill init`, then `waybill doctor`"},
    {1364, ErrorCode::schema, "the column id needs AUTO_INCREMENT; run `waybill init`"},
    {1114, ErrorCode::full, "the table is full; nothing was written"},
    {1021, ErrorCode::full, "the server's disk is full; free some and try again"},
    {3, ErrorCode::full, "the server could not write; look at its disk"},
    {1026, ErrorCode::full, "the server could not write; look at its disk"},
    {1153, ErrorCode::invalid, "larger than the server's max_allowed_packet"},
    {1406, ErrorCode::invalid, "too long for its column"},
    {1366, ErrorCode::invalid, "the column's character set can't hold it; waybill's tables are utf8mb4"},
    {3140, ErrorCode::invalid, "the server does not take it for JSON"},
    {3157, ErrorCode::invalid, "the JSON nests too deep for the server"},
    {4025, ErrorCode::invalid, "a CHECK of the table is broken; MariaDB takes JSON of at most 32 levels"},
    {3819, ErrorCode::invalid, "a CHECK of the table is broken"},
    {1264, ErrorCode::invalid, "out of the column's range"},
}};

const Row* find_row(unsigned number) noexcept {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) { return one.number == number; });
  return row == kRows.end() ? nullptr : row;
}

bool is_of_the_client(unsigned number) noexcept { return number >= 2000 && number < 3000; }

/// What the server says before the TLS handshake ends (that it is full, say) MariaDB's library wraps as an error of its
/// own: the number within, or `number`.
unsigned number_within(unsigned number, std::string_view message) noexcept {
  constexpr std::string_view kBefore = "error cannot be verified: ";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return number;
  unsigned within = number;
  (void)std::from_chars(message.data() + at + kBefore.size(), message.data() + message.size(), within);
  return within;
}

}  // namespace

ErrorCode error_code_of(unsigned number) noexcept {
  const Row* row = find_row(number);
  return row == nullptr ? ErrorCode::unavailable : row->meaning;
}

bool breaks_connection(unsigned number) noexcept {
  return is_of_the_client(number) || error_code_of(number) == ErrorCode::unavailable;
}

bool leaves_outcome_open(unsigned number) noexcept {
  constexpr unsigned kShutdown = 1053;
  constexpr unsigned kInterrupted = 1317;
  constexpr unsigned kKilled = 1927;
  return is_of_the_client(number) || number == kShutdown || number == kInterrupted || number == kKilled;
}

void throw_error(unsigned number, const std::string& doing, const std::string& message) {
  const Row* row = find_row(number);
  std::string text = doing.empty() ? "" : doing + ": ";
  text += message + " [" + std::to_string(number) + "]";
  if (row != nullptr) text += std::string(" (") + row->advice + ")";
  throw ServerError(number, error_code_of(number), text);
}

void throw_last_error(MYSQL* mysql, const std::string& doing) {
  throw_error(number_within(mysql_errno(mysql), mysql_error(mysql)), doing, mysql_error(mysql));
}

void throw_last_error(MYSQL_STMT* statement, const std::string& doing) {
  throw_error(mysql_stmt_errno(statement), doing, mysql_stmt_error(statement));
}

}  // namespace waybill::mysql
