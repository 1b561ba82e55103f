#pragma once
// Prepared statements over a connection that is ours or the caller's.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/sql_template.hpp"
#include "mysql/mysql_api.hpp"
#include "waybill/time.hpp"

namespace waybill::mysql {

/// Lists are padded to a power of two by repeating their last item, so that few statements serve all lengths.
[[nodiscard]] std::size_t padded(std::size_t count) noexcept;

/// One prepared statement. Parameters are added in the order of their places; added text must live until the statement
/// is run. Confined to its connection's thread.
class Statement {
 public:
  Statement(MYSQL* mysql, const std::string& sql);

  /// Forgets the parameters of the last run.
  Statement& start() noexcept;
  Statement& add(std::int64_t value);
  Statement& add(std::string_view text);
  Statement& add(std::nullptr_t);
  Statement& add(Timestamp time);
  template <class T>
  Statement& add(const std::optional<T>& value) {
    return value ? add(*value) : add(nullptr);
  }

  /// The places of a {list} for so many items (one at least): `get` of each, then of the last again.
  template <class Items, class Get>
  Statement& add_list(const Items& items, Get get) {
    const std::size_t count = padded(items.size());
    for (std::size_t at = 0; at < count; ++at) add(get(items[at < items.size() ? at : items.size() - 1]));
    return *this;
  }

  /// Runs a statement without rows; the number of rows it changed.
  std::uint64_t run();
  /// The id the server gave to the first row of the last INSERT.
  [[nodiscard]] std::uint64_t inserted_id() const noexcept { return mysql_stmt_insert_id(handle_.get()); }
  /// Runs a query; its rows come with next().
  Statement& select();
  /// True: a row is there. Throws StorageError.
  bool next();
  /// Frees what is left of a result.
  void close_result() noexcept;

  [[nodiscard]] int columns() const noexcept { return static_cast<int>(fields_.size()); }
  /// Else a number or a time.
  [[nodiscard]] bool is_text(int column) const { return !field(column).buffer.empty(); }
  [[nodiscard]] bool is_null(int column) const { return field(column).null != 0; }
  /// 0 when it is NULL.
  [[nodiscard]] std::int64_t integer(int column) const { return is_null(column) ? 0 : field(column).number; }
  /// Valid until the next row.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] Timestamp time(int column) const;
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;
  [[nodiscard]] std::optional<Timestamp> optional_time(int column) const;

 private:
  struct Close {
    void operator()(MYSQL_STMT* statement) const noexcept { mysql_stmt_close(statement); }
  };
  struct Parameter {
    std::int64_t number{0};
    MYSQL_TIME time{};
    unsigned long length{0};
  };
  struct Field {
    std::int64_t number{0};
    MYSQL_TIME time{};
    std::vector<char> buffer;
    unsigned long length{0};
    Flag null{};
    Flag truncated{};
  };
  MYSQL_BIND& place();
  void execute();
  void describe_result();
  void bind_text(std::size_t column);
  void bind_result();
  [[nodiscard]] const Field& field(int column) const { return fields_[static_cast<std::size_t>(column)]; }

  std::unique_ptr<MYSQL_STMT, Close> handle_;
  std::vector<MYSQL_BIND> binds_;
  std::vector<Parameter> parameters_;
  std::size_t added_{0};
  std::vector<MYSQL_BIND> results_;
  std::vector<Field> fields_;
};

/// A query in use: frees its result at the end of the scope, so that the connection is free for the next statement.
class Query {
 public:
  explicit Query(Statement& statement) : statement_(&statement) { statement_->select(); }
  ~Query() { statement_->close_result(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  Statement* operator->() const { return statement_; }
  Statement& operator*() const { return *statement_; }

 private:
  Statement* statement_;
};

/// The first column of every row.
[[nodiscard]] std::vector<std::int64_t> integers(Statement& statement);

/// The statements of one connection, prepared at first use and kept. A text's address is its key, so texts must be
/// constants; `variant` (also a constant) and `count` stand for what is replaced in it.
class Statements {
 public:
  explicit Statements(MYSQL* mysql, backends::TableTexts texts = {}) : mysql_(mysql), texts_(std::move(texts)) {}
  /// From now on the texts are about another table.
  void use(backends::TableTexts texts);
  [[nodiscard]] Statement& get(std::string_view text);
  [[nodiscard]] Statement& get(std::string_view text, const char* variant,
                               std::initializer_list<backends::Substitution> replacements);
  /// With {list} replaced by places for `count` items: see Statement::add_list(). {table} by a constant.
  [[nodiscard]] Statement& get_list(std::string_view text, std::size_t count, const char* table = nullptr);
  /// With {rows} replaced by `count` times `row`.
  [[nodiscard]] Statement& get_rows(std::string_view text, std::size_t count, std::string_view row);
  /// With replacements made at run time; not kept.
  [[nodiscard]] Statement prepare(std::string_view text,
                                  std::initializer_list<backends::Substitution> replacements = {}) const {
    return Statement(mysql_, texts_.render(text, replacements));
  }
  /// The first column of the first row; 0 when there is none.
  [[nodiscard]] std::int64_t integer(std::string_view text);

 private:
  using Key = std::tuple<const char*, const char*, std::size_t>;
  template <class Render>
  Statement& cached(const Key& key, Render render);

  MYSQL* mysql_;
  backends::TableTexts texts_;
  std::map<Key, Statement> cache_;
};

}  // namespace waybill::mysql
