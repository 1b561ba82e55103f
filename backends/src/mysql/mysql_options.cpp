// `mysql://user[:password]@host[:port]/database?options`.

#include <array>
#include <cstdlib>
#include <fstream>

#include "waybill/backends/mysql.hpp"

namespace waybill {
namespace {

constexpr const char* kPasswordVariable = "WAYBILL_MYSQL_PASSWORD";

constexpr std::array<OptionSpec, 10> kSpecs{{
    {"password_file", OptionType::text, "", "file whose first line is the password; else WAYBILL_MYSQL_PASSWORD"},
    {"socket", OptionType::text, "", "path of the server's Unix socket, instead of host and port"},
    {"tls", OptionType::choice, "preferred",
     "off; preferred: when the server offers it; required; verify: and check host and certificate",
     "off|preferred|required|verify"},
    {"tls_ca", OptionType::text, "", "PEM file of the authority that signed the server's certificate"},
    {"connect_timeout", OptionType::duration, "5s", "how long to try to connect", "1s..10m"},
    {"timeout", OptionType::duration, "30s", "how long to wait for the answer to a statement", "1s..1h"},
    {"table", OptionType::text, "",
     "deliver from your own table: biz_message_event, domain_event_outbox, outbox, or that of [table] in --config"},
    {"max_payload", OptionType::bytes, "1MiB", "largest event_payload", "1..1GiB"},
    {"indexes", OptionType::choice, "full", "init: the seed's whole set, or lean: what delivery needs", "full|lean"},
    {"payload", OptionType::choice, "json",
     "init: json (MySQL orders keys anew), or text: the payload's bytes are kept", "json|text"},
}};

constexpr std::array<std::pair<std::string_view, MysqlTls>, 4> kTls{{{"off", MysqlTls::off},
                                                                     {"preferred", MysqlTls::preferred},
                                                                     {"required", MysqlTls::required},
                                                                     {"verify", MysqlTls::verify}}};

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) && line.empty())
    throw ConfigError("password_file '" + path + "' can't be read, or is empty");
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

std::string password_of(const Url& url, const Options& given) {
  if (url.password && given.given("password_file"))
    throw ConfigError("'" + url.redacted() + "': a password and a password_file; leave one out");
  if (url.password) return *url.password;
  if (given.given("password_file")) return first_line_of(given.text("password_file"));
  const char* variable = std::getenv(kPasswordVariable);
  return variable == nullptr ? "" : variable;
}

std::string database_of(const Url& url) {
  const std::string name = url.path.substr(url.path.starts_with('/') ? 1 : 0);
  if (name.empty() || name.find('/') != std::string::npos)
    throw ConfigError("'" + url.redacted() + "': name one database; write mysql://user@host/database");
  return name;
}

}  // namespace

std::span<const OptionSpec> mysql_option_specs() noexcept { return kSpecs; }

MysqlOptions mysql_options(const Url& url, const OpenContext& context) {
  const Options given(url, kSpecs);
  MysqlOptions options;
  options.socket = given.text("socket");
  if (url.host.empty() && options.socket.empty())
    throw ConfigError("'" + url.redacted() +
                      "': the host is missing; write mysql://user@host/database, or give socket=PATH");
  options.host = url.host;
  options.port = url.port.value_or(3306);
  options.user = url.user;
  options.password = password_of(url, given);
  options.database = database_of(url);
  for (const auto& [name, tls] : kTls)
    if (given.text("tls") == name) options.tls = tls;
  options.tls_ca = given.text("tls_ca");
  options.connect_timeout = given.duration("connect_timeout");
  options.timeout = given.duration("timeout");
  options.limits.max_payload_bytes = given.bytes("max_payload");
  options.table = chosen_table(given.text("table"), context.table);
  options.full_indexes = given.text("indexes") == "full";
  options.text_payload = given.text("payload") == "text";
  options.mode = context.mode;
  options.clock = context.clock;
  options.log = context.log;
  return options;
}

}  // namespace waybill
