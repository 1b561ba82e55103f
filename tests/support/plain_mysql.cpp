#include "support/plain_mysql.hpp"

#include <mysql.h>

#include <stdexcept>

namespace waybill::test {

std::vector<std::string> SqlAnswer::column(const std::string& name) const {
  std::vector<std::string> values;
  for (const auto& row : rows) values.push_back(row.at(name));
  return values;
}

PlainMysql::PlainMysql(const MysqlOptions& options) : handle_(mysql_init(nullptr)) {
  mysql_options(handle_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (mysql_real_connect(handle_, options.host.c_str(), options.user.c_str(), options.password.c_str(),
                         options.database.c_str(), options.port, nullptr, 0) == nullptr)
    fail("connect");
  run("SET time_zone = '+00:00'");
}

PlainMysql::~PlainMysql() { mysql_close(handle_); }

SqlAnswer PlainMysql::run(const std::string& sql) {
  if (mysql_real_query(handle_, sql.data(), static_cast<unsigned long>(sql.size())) != 0) fail(sql);
  SqlAnswer answer;
  MYSQL_RES* result = mysql_store_result(handle_);
  if (result == nullptr) {
    if (mysql_field_count(handle_) != 0) fail(sql);
    answer.affected = mysql_affected_rows(handle_);
    return answer;
  }
  const MYSQL_FIELD* fields = mysql_fetch_fields(result);
  while (const MYSQL_ROW row = mysql_fetch_row(result)) {
    auto& columns = answer.rows.emplace_back();
    for (unsigned at = 0; at < mysql_num_fields(result); ++at)
      columns[fields[at].name] = row[at] == nullptr ? "NULL" : row[at];
  }
  mysql_free_result(result);
  return answer;
}

std::string PlainMysql::value(const std::string& sql) {
  const SqlAnswer answer = run(sql);
  return answer.rows.empty() ? "" : answer.rows.front().begin()->second;
}

void PlainMysql::fail(const std::string& doing) const { throw std::runtime_error(doing + ": " + mysql_error(handle_)); }

}  // namespace waybill::test
