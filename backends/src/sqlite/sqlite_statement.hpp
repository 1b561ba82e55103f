#pragma once
// Prepared statements over a connection that is ours or the caller's.
//
// SQLiteCpp owns our connections, but it cannot wrap a handle that somebody else opened, and the outbox works on just
// such a handle; hence these two small classes, used for both.

#include <sqlite3.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/sql_template.hpp"
#include "waybill/time.hpp"

namespace waybill::sqlite {

/// One prepared statement. Bound text must live until the next step() or run(). Confined to its connection's thread.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql);

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::nullptr_t);
  Statement& bind(int index, Timestamp time) {
    return bind(index, static_cast<std::int64_t>(time.time_since_epoch().count()));
  }
  template <class T>
  Statement& bind(int index, const std::optional<T>& value) {
    return value ? bind(index, *value) : bind(index, nullptr);
  }

  /// True: a row is there. False: done. Throws StorageError after resetting.
  bool step();
  /// Steps to the end, resets, and returns the number of changed rows.
  std::int64_t run();
  void reset() noexcept { sqlite3_reset(handle_.get()); }

  [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  /// Valid until the next step or reset.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] Timestamp time(int column) const { return Timestamp{Duration{integer(column)}}; }
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;
  [[nodiscard]] std::optional<Timestamp> optional_time(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  void check(int code) const;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// A statement in use: resets it at the end of the scope, so that no read transaction is left open.
class Query {
 public:
  explicit Query(Statement& statement) : statement_(&statement) {}
  ~Query() { statement_->reset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  Statement* operator->() const { return statement_; }
  Statement& operator*() const { return *statement_; }

 private:
  Statement* statement_;
};

/// The first column of every row.
[[nodiscard]] std::vector<std::int64_t> integers(Statement& statement);

/// For json_each(): `get` of each item, a whole number.
template <class Items, class Get>
[[nodiscard]] std::string json_list(const Items& items, Get get) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? '[' : ',') + std::to_string(get(item));
  return list.empty() ? "[]" : list + ']';
}

/// The statements of one connection, prepared at first use and kept. `text` and `variant` are constants with static
/// lifetime: their addresses are the key.
class Statements {
 public:
  explicit Statements(sqlite3* db, backends::TableTexts texts = {}) : db_(db), texts_(std::move(texts)) {}
  /// From now on the texts are about another table.
  void use(backends::TableTexts texts);
  [[nodiscard]] const backends::TableTexts& texts() const noexcept { return texts_; }
  [[nodiscard]] Statement& get(std::string_view text);
  /// With names in the text replaced; `variant` stands for the replacements in the key.
  [[nodiscard]] Statement& get(std::string_view text, const char* variant,
                               std::initializer_list<backends::Substitution> replacements);
  [[nodiscard]] sqlite3* db() const noexcept { return db_; }
  /// The first column of the first row; the query must give one.
  [[nodiscard]] std::int64_t integer(std::string_view text);

 private:
  sqlite3* db_;
  backends::TableTexts texts_;
  std::map<std::pair<const char*, const char*>, Statement> cache_;
};

}  // namespace waybill::sqlite
