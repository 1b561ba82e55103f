#include "sqlite/sqlite_statement.hpp"

#include "sqlite/sqlite_errors.hpp"

namespace waybill::sqlite {

Statement::Statement(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
      SQLITE_OK)
    throw_last_error(db, "prepare");
  handle_.reset(raw);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw_last_error(sqlite3_db_handle(handle_.get()), "bind");
}

Statement& Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  check(sqlite3_bind_text64(handle_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int index, std::nullptr_t) {
  check(sqlite3_bind_null(handle_.get(), index));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(handle_.get());
  const int extended = sqlite3_extended_errcode(db);
  const std::string message = sqlite3_errmsg(db);
  reset();
  throw_error(extended, "sqlite", message);
}

std::int64_t Statement::run() {
  while (step()) {
  }
  reset();
  return sqlite3_changes64(sqlite3_db_handle(handle_.get()));
}

std::string_view Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return bytes == nullptr ? std::string_view{}
                          : std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

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
  while (rows->step()) numbers.push_back(rows->integer(0));
  return numbers;
}

void Statements::use(backends::TableTexts texts) {
  cache_.clear();
  texts_ = std::move(texts);
}

Statement& Statements::get(std::string_view text) { return get(text, nullptr, {}); }

Statement& Statements::get(std::string_view text, const char* variant,
                           std::initializer_list<backends::Substitution> replacements) {
  const std::pair key{text.data(), variant};
  const auto found = cache_.find(key);
  if (found != cache_.end()) return found->second;
  return cache_.emplace(key, Statement(db_, texts_.render(text, replacements))).first->second;
}

std::int64_t Statements::integer(std::string_view text) {
  const Query query(get(text));
  (void)query->step();
  return query->integer(0);
}

}  // namespace waybill::sqlite
