#pragma once
// The MySQL and MariaDB store. What a program calls inside its own transaction is in mysql_outbox.hpp.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waybill/event_repository.hpp"
#include "waybill/limits.hpp"
#include "waybill/registry.hpp"
#include "waybill/table_model.hpp"
#include "waybill/time.hpp"

namespace waybill {

enum class MysqlTls {
  off,        ///< plain text
  preferred,  ///< TLS when the server offers it
  required,   ///< TLS or nothing; the certificate is not checked
  verify,     ///< TLS, and the certificate is for this host and signed by `tls_ca` (or the system's authorities)
};

struct MysqlOptions {
  std::string host{"localhost"};
  std::uint16_t port{3306};
  std::string socket;  ///< path of a Unix socket; empty: TCP
  std::string user;
  std::string password;
  std::string database;
  MysqlTls tls{MysqlTls::preferred};
  std::string tls_ca;                                  ///< PEM file
  Duration connect_timeout{std::chrono::seconds{5}};   ///< whole seconds, from 1
  Duration timeout{std::chrono::seconds{30}};          ///< of one statement's answer; whole seconds, from 1
  Duration look_every{std::chrono::milliseconds{20}};  ///< how often wait_for_work looks
  OpenMode mode{OpenMode::read_write};
  Limits limits{};
  bool full_indexes{true};              ///< `init`: the seed's whole set, or what delivery needs
  bool text_payload{false};             ///< `init`: LONGTEXT keeps a payload's bytes; JSON normalises it (MySQL)
  std::optional<TableModel> table;      ///< deliver from this table of the user's; empty: biz_outbox_event
  std::shared_ptr<const IClock> clock;  ///< empty: the server's clock
  LogSink log;
};

/// Throws StorageError: `schema` (no database, no tables, old, future), `denied`, `unavailable`.
[[nodiscard]] std::unique_ptr<IEventRepository> open_mysql(const MysqlOptions& options);
/// `mysql://user[:password]@host[:port]/database?options` -> options. Throws ConfigError.
[[nodiscard]] MysqlOptions mysql_options(const Url& url, const OpenContext& context);
/// The table of URL options, for help and docs.
[[nodiscard]] std::span<const OptionSpec> mysql_option_specs() noexcept;
/// The whole schema as SQL text that the plain client of either server runs. With a table of the user's the server is
/// asked what that one is like.
[[nodiscard]] std::string mysql_schema_sql(const MysqlOptions& options);

}  // namespace waybill
