#include "support/plain_client.hpp"

#include <stdexcept>

namespace waybill::test {

PlainClient::PlainClient(const MysqlOptions& options, const PlainOptions& plain) : handle_(mysql_init(nullptr)) {
  ::mysql_options(handle_, MYSQL_SET_CHARSET_NAME, plain.charset);
  if (mysql_real_connect(handle_, options.host.c_str(), options.user.c_str(), options.password.c_str(),
                         options.database.empty() ? nullptr : options.database.c_str(), options.port, nullptr,
                         plain.flags) != nullptr)
    return;
  const std::string message = mysql_error(handle_);
  mysql_close(handle_);
  throw std::runtime_error("plain client: connect: " + message);
}

PlainClient::~PlainClient() { mysql_close(handle_); }

std::string PlainClient::value(const std::string& sql) {
  if (mysql_real_query(handle_, sql.data(), static_cast<unsigned long>(sql.size())) != 0) fail(sql);
  MYSQL_RES* result = mysql_store_result(handle_);
  if (result == nullptr) {
    if (mysql_field_count(handle_) != 0) fail(sql);
    return {};
  }
  const MYSQL_ROW row = mysql_fetch_row(result);
  std::string first = row == nullptr || row[0] == nullptr ? "" : std::string(row[0], *mysql_fetch_lengths(result));
  mysql_free_result(result);
  return first;
}

unsigned PlainClient::attempt(const std::string& sql) {
  if (mysql_real_query(handle_, sql.data(), static_cast<unsigned long>(sql.size())) == 0)
    mysql_free_result(mysql_store_result(handle_));
  return mysql_errno(handle_);
}

void PlainClient::fail(const std::string& doing) const {
  throw std::runtime_error("plain client: " + doing + ": " + mysql_error(handle_));
}

std::string value_of(const MysqlOptions& options, const std::string& sql) { return PlainClient(options).value(sql); }

}  // namespace waybill::test
