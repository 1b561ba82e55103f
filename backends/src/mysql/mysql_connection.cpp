#include "mysql/mysql_connection.hpp"

#include <algorithm>
#include <cstdio>

#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

constexpr std::chrono::seconds kMeasureEvery{1};
/// Waiting for a lock longer than this is answered by trying again: a deadlock that the server did not see. Shorter
/// than the time-out of the answer, or a lock would look like a lost server.
constexpr unsigned kLockWait = 5;  // s
constexpr const char* kSession =
    "SET time_zone = '+00:00', autocommit = 1, "
    "sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE'";
constexpr const char* kIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

unsigned whole_seconds(Duration duration) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(duration).count()));
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void set_tls(MYSQL* mysql, const MysqlOptions& options) {
#ifdef MARIADB_PACKAGE_VERSION
  if (options.tls == MysqlTls::off) return;
  mysql_ssl_set(mysql, nullptr, nullptr, or_null(options.tls_ca), nullptr, nullptr);
  const Flag enforce = 1;  // 0 would mean: no TLS, offered or not
  const Flag verify = options.tls == MysqlTls::verify ? 1 : 0;
  if (options.tls != MysqlTls::preferred) mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforce);
  mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
#else
  constexpr std::array<unsigned, 4> kModes{SSL_MODE_DISABLED, SSL_MODE_PREFERRED, SSL_MODE_REQUIRED,
                                           SSL_MODE_VERIFY_IDENTITY};
  const unsigned mode = kModes[static_cast<std::size_t>(options.tls)];
  mysql_options(mysql, MYSQL_OPT_SSL_MODE, &mode);
  if (!options.tls_ca.empty()) mysql_options(mysql, MYSQL_OPT_SSL_CA, options.tls_ca.c_str());
#endif
}

}  // namespace

Timestamp ServerClock::now(Statements& statements) {
  const auto asked = std::chrono::steady_clock::now();
  if (measured_ == std::chrono::steady_clock::time_point{} || asked - measured_ > kMeasureEvery) {
    const Query query(statements.get(texts::server_time));
    if (query->next()) base_ = query->time(0);
    measured_ = asked + (std::chrono::steady_clock::now() - asked) / 2;  // the answer is from about the middle
  }
  return base_ + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - measured_);
}

Connection::Connection(const MysqlOptions& options)
    : clock_(options.clock), handle_(mysql_init(nullptr)), statements_(handle_.get()) {
  if (handle_ == nullptr) throw StorageError(ErrorCode::unavailable, "connect: out of memory");
  connect(options);
  set_session(options);
}

void Connection::connect(const MysqlOptions& options) {
  MYSQL* mysql = handle_.get();
  const unsigned connect_timeout = whole_seconds(options.connect_timeout);
  const unsigned timeout = whole_seconds(options.timeout);
  mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout);
  mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &timeout);
  mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &timeout);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  set_tls(mysql, options);
  const bool by_socket = !options.socket.empty();
  const unsigned protocol = by_socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
  mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
  const std::string where = by_socket ? options.socket : options.host + ":" + std::to_string(options.port);
  if (mysql_real_connect(mysql, by_socket ? nullptr : options.host.c_str(), or_null(options.user),
                         or_null(options.password), or_null(options.database), by_socket ? 0 : options.port,
                         or_null(options.socket), 0) == nullptr)
    throw_last_error(mysql, "connect to " + where);
  // MariaDB's library goes on in plain text where the server offers no TLS, and if a MySQL server then asks for the
  // password itself (caching_sha2_password without a cached entry) sends it so: only `verify` stops before.
  if (options.tls >= MysqlTls::required && mysql_get_ssl_cipher(mysql) == nullptr)
    throw_error(kTlsError, "connect to " + where, "the server offers no TLS");
}

void Connection::set_session(const MysqlOptions& options) {
  execute(kSession);
  const unsigned lock_wait = std::clamp(whole_seconds(options.timeout) / 2, 1U, kLockWait);
  execute("SET innodb_lock_wait_timeout = " + std::to_string(lock_wait));
  execute(kIsolation);
  if (options.clock != nullptr) follow_clock();
}

void Connection::execute(const std::string& sql) {
  if (mysql_real_query(handle_.get(), sql.data(), static_cast<unsigned long>(sql.size())) != 0)
    throw_last_error(handle_.get(), "");
}

bool Connection::is_mariadb() const noexcept {
  const char* version = mysql_get_server_info(handle_.get());
  return version != nullptr && std::string_view(version).find("MariaDB") != std::string_view::npos;
}

Timestamp Connection::now() { return clock_ != nullptr ? clock_->now() : server_clock_.now(statements_); }

void Connection::follow_clock() {
  if (clock_ == nullptr || clock_->now() == followed_) return;
  followed_ = clock_->now();
  // A little more than the microsecond, because MariaDB cuts the product of a double.
  const std::int64_t count = followed_.time_since_epoch().count();
  char text[64];
  std::snprintf(text, sizeof text, "SET timestamp = %lld.%06lld2", static_cast<long long>(count / 1000000),
                static_cast<long long>(count % 1000000));
  execute(text);
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.follow_clock();
  connection_.execute("BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    connection_.execute("ROLLBACK");
  } catch (const StorageError&) {
    // The failure that brought us here is the one to tell; a broken connection is rolled back by the server.
  }
}

void Transaction::commit() {
  open_ = false;
  try {
    connection_.execute("COMMIT");
  } catch (const ServerError& error) {
    // A refusal that names its reason (1290: read-only by now) is an answer, and nothing was written.
    if (leaves_outcome_open(error.number()))
      throw LostCommit{StorageError(ErrorCode::outcome_unknown,
                                    std::string("whether it was committed is not known: ") + error.what())};
    open_ = true;
    throw;
  }
}

}  // namespace waybill::mysql
