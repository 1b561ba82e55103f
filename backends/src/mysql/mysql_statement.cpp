#include "mysql/mysql_statement.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "mysql/mysql_errors.hpp"

namespace waybill::mysql {
namespace {

constexpr std::size_t kFirstBuffer = 256;

MYSQL_TIME to_mysql(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  MYSQL_TIME value{};
  value.year = static_cast<unsigned>(static_cast<int>(date.year()));
  value.month = static_cast<unsigned>(date.month());
  value.day = static_cast<unsigned>(date.day());
  value.hour = static_cast<unsigned>(clock.hours().count());
  value.minute = static_cast<unsigned>(clock.minutes().count());
  value.second = static_cast<unsigned>(clock.seconds().count());
  value.second_part = static_cast<unsigned long>(clock.subseconds().count());
  value.time_type = MYSQL_TIMESTAMP_DATETIME;
  return value;
}

Timestamp from_mysql(const MYSQL_TIME& value) {
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(value.year)},
                                         std::chrono::month{value.month}, std::chrono::day{value.day}};
  return std::chrono::sys_days{date} + std::chrono::hours{value.hour} + std::chrono::minutes{value.minute} +
         std::chrono::seconds{value.second} + Duration{static_cast<std::int64_t>(value.second_part)};
}

enum class Kind { number, time, text };

Kind kind_of(enum_field_types type) {
  switch (type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_NEWDECIMAL:
      return Kind::number;
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_DATE:
      return Kind::time;
    default:
      return Kind::text;
  }
}

/// `item, item, item`.
std::string repeated(std::string_view item, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text.append(at == 0 ? "" : ", ").append(item);
  return text;
}

}  // namespace

std::size_t padded(std::size_t count) noexcept { return std::bit_ceil(count); }

Statement::Statement(MYSQL* mysql, const std::string& sql) : handle_(mysql_stmt_init(mysql)) {
  if (handle_ == nullptr) throw_last_error(mysql, "prepare");
  if (mysql_stmt_prepare(handle_.get(), sql.data(), static_cast<unsigned long>(sql.size())) != 0)
    throw_last_error(handle_.get(), "prepare");
  const std::size_t count = mysql_stmt_param_count(handle_.get());
  binds_.resize(count);
  parameters_.resize(count);
}

Statement& Statement::start() noexcept {
  added_ = 0;
  return *this;
}

MYSQL_BIND& Statement::place() {
  if (added_ == binds_.size())
    throw StorageError(ErrorCode::invalid, "a statement got more values than it has places for");
  MYSQL_BIND& bind = binds_[added_];
  bind = MYSQL_BIND{};
  return bind;
}

Statement& Statement::add(std::int64_t value) {
  MYSQL_BIND& bind = place();
  parameters_[added_].number = value;
  bind.buffer_type = MYSQL_TYPE_LONGLONG;
  bind.buffer = &parameters_[added_].number;
  ++added_;
  return *this;
}

Statement& Statement::add(std::string_view text) {
  MYSQL_BIND& bind = place();
  parameters_[added_].length = static_cast<unsigned long>(text.size());
  bind.buffer_type = MYSQL_TYPE_STRING;
  bind.buffer = const_cast<char*>(text.data() == nullptr ? "" : text.data());  // the API is older than const; only read
  bind.buffer_length = parameters_[added_].length;
  bind.length = &parameters_[added_].length;
  ++added_;
  return *this;
}

Statement& Statement::add(std::nullptr_t) {
  place().buffer_type = MYSQL_TYPE_NULL;
  ++added_;
  return *this;
}

Statement& Statement::add(Timestamp time) {
  MYSQL_BIND& bind = place();
  parameters_[added_].time = to_mysql(time);
  bind.buffer_type = MYSQL_TYPE_DATETIME;
  bind.buffer = &parameters_[added_].time;
  ++added_;
  return *this;
}

void Statement::execute() {
  if (added_ != binds_.size())
    throw StorageError(ErrorCode::invalid, "a statement got fewer values than it has places for");
  if (!binds_.empty() && mysql_stmt_bind_param(handle_.get(), binds_.data()) != 0)
    throw_last_error(handle_.get(), "bind");
  if (mysql_stmt_execute(handle_.get()) != 0) throw_last_error(handle_.get(), "");
}

std::uint64_t Statement::run() {
  execute();
  return mysql_stmt_affected_rows(handle_.get());
}

void Statement::describe_result() {
  const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> metadata(mysql_stmt_result_metadata(handle_.get()),
                                                                  mysql_free_result);
  if (metadata == nullptr) throw StorageError(ErrorCode::invalid, "the statement has no rows to read");
  const unsigned count = mysql_num_fields(metadata.get());
  const MYSQL_FIELD* described = mysql_fetch_fields(metadata.get());
  fields_.resize(count);
  results_.assign(count, MYSQL_BIND{});
  for (unsigned column = 0; column < count; ++column) {
    Field& field = fields_[column];
    MYSQL_BIND& bind = results_[column];
    bind.is_null = &field.null;
    bind.length = &field.length;
    bind.error = &field.truncated;
    switch (kind_of(described[column].type)) {
      case Kind::number:
        bind.buffer_type = MYSQL_TYPE_LONGLONG;
        bind.buffer = &field.number;
        break;
      case Kind::time:
        bind.buffer_type = MYSQL_TYPE_DATETIME;
        bind.buffer = &field.time;
        break;
      case Kind::text:
        field.buffer.resize(kFirstBuffer);
        bind_text(column);
        break;
    }
  }
}

void Statement::bind_text(std::size_t column) {
  MYSQL_BIND& bind = results_[column];
  bind.buffer_type = MYSQL_TYPE_STRING;
  bind.buffer = fields_[column].buffer.data();
  bind.buffer_length = static_cast<unsigned long>(fields_[column].buffer.size());
}

void Statement::bind_result() {
  if (mysql_stmt_bind_result(handle_.get(), results_.data()) != 0) throw_last_error(handle_.get(), "read");
}

Statement& Statement::select() {
  execute();
  if (fields_.empty()) describe_result();
  bind_result();
  if (mysql_stmt_store_result(handle_.get()) != 0) throw_last_error(handle_.get(), "");
  return *this;
}

bool Statement::next() {
  const int code = mysql_stmt_fetch(handle_.get());
  if (code == MYSQL_NO_DATA) return false;
  if (code != 0 && code != MYSQL_DATA_TRUNCATED) throw_last_error(handle_.get(), "");
  bool grown = false;
  for (std::size_t column = 0; column < fields_.size(); ++column) {
    Field& field = fields_[column];
    if (field.null != 0 || field.buffer.empty() || field.length <= field.buffer.size()) continue;
    field.buffer.resize(std::bit_ceil(static_cast<std::size_t>(field.length)));
    bind_text(column);
    if (mysql_stmt_fetch_column(handle_.get(), &results_[column], static_cast<unsigned>(column), 0) != 0)
      throw_last_error(handle_.get(), "");
    grown = true;
  }
  if (grown) bind_result();
  return true;
}

void Statement::close_result() noexcept { mysql_stmt_free_result(handle_.get()); }

std::string_view Statement::text(int column) const {
  const Field& one = field(column);
  return one.null != 0 ? std::string_view{} : std::string_view(one.buffer.data(), one.length);
}

Timestamp Statement::time(int column) const { return from_mysql(field(column).time); }

std::optional<std::string> Statement::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return std::string(text(column));
}

std::optional<Timestamp> Statement::optional_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

std::vector<std::int64_t> integers(Statement& statement) {
  std::vector<std::int64_t> numbers;
  const Query rows(statement);
  while (rows->next()) numbers.push_back(rows->integer(0));
  return numbers;
}

void Statements::use(backends::TableTexts texts) {
  cache_.clear();
  texts_ = std::move(texts);
}

Statement& Statements::get(std::string_view text) { return get(text, nullptr, {}); }

Statement& Statements::get(std::string_view text, const char* variant,
                           std::initializer_list<backends::Substitution> replacements) {
  return cached({text.data(), variant, 0}, [&] { return texts_.render(text, replacements); });
}

Statement& Statements::get_list(std::string_view text, std::size_t count, const char* table) {
  return cached({text.data(), table, padded(count)}, [&] {
    const std::string list = repeated("?", padded(count));
    return texts_.render(text, {{"list", list}, {"table", table == nullptr ? "" : table}});
  });
}

Statement& Statements::get_rows(std::string_view text, std::size_t count, std::string_view row) {
  return cached({text.data(), nullptr, count}, [&] {
    const std::string rows = repeated(row, count);
    return texts_.render(text, {{"rows", rows}});
  });
}

template <class Render>
Statement& Statements::cached(const Key& key, Render render) {
  auto found = cache_.find(key);
  if (found == cache_.end()) found = cache_.emplace(key, Statement(mysql_, render())).first;
  return found->second.start();
}

std::int64_t Statements::integer(std::string_view text) {
  const Query query(get(text));
  return query->next() ? query->integer(0) : 0;
}

}  // namespace waybill::mysql
