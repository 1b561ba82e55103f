#pragma once
// An adopted table as SQL: what the database says of it, whether waybill can work on it, and the texts that do.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/sql_template.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/table_model.hpp"

namespace waybill::backends {

enum class Dialect { sqlite, mysql };

/// What the database says of a table.
struct TableFacts {
  struct Column {
    std::string name;
    std::string type;          ///< as declared, in small letters
    std::string collation;     ///< " COLLATE …" or nothing
    std::size_t max_chars{0};  ///< 0: no bound
    bool nullable{true};
  };
  struct Index {
    std::string name;
    std::vector<std::string> columns;
    bool unique{false};
  };
  std::vector<Column> columns;           ///< none: there is no such table
  std::vector<std::string> primary_key;  ///< its columns, in order
  std::vector<Index> indexes;            ///< SQLite: without a primary key that is the row's own number
};

/// A model and the table it describes, found to fit. Immutable.
class AdoptedTable {
 public:
  /// Throws StorageError `schema`, with what is wrong and what to do.
  AdoptedTable(TableModel model, TableFacts facts, Dialect dialect);

  [[nodiscard]] const TableModel& model() const noexcept { return model_; }
  /// `table 'outbox'`, for messages.
  [[nodiscard]] std::string name() const { return "table '" + model_.table + "'"; }
  /// The key is a whole number and orders the events: it is their id.
  [[nodiscard]] bool key_is_id() const noexcept { return key_is_id_; }
  /// Rows of the table change when their events are claimed.
  [[nodiscard]] bool shows_claims() const;
  [[nodiscard]] bool has(std::string_view column) const { return model_.columns.count(std::string(column)) != 0; }
  /// The table has a unique event number: events can be appended, and compared with what is there.
  [[nodiscard]] bool has_unique_number() const;
  /// Its counter in the books: rows that purge removed.
  [[nodiscard]] std::string purged_counter() const { return "purged " + model_.table; }
  /// An INSERT of one event with the columns that the table has; appended() gives its values in order. Throws
  /// StorageError `invalid` when the table has no unique event number.
  [[nodiscard]] std::string append_text() const;
  using Value = std::variant<std::nullptr_t, std::int64_t, std::string_view, Timestamp>;
  /// Throws InvalidEvent for a field that is set and has no column. The values refer to the event.
  [[nodiscard]] std::vector<Value> appended(const NewEvent& event, Timestamp now) const;
  /// What became of an appended event; content counts as far as the table keeps it. Throws StorageError `invalid` when
  /// the row can't be read.
  [[nodiscard]] AppendResult judged(bool inserted, const std::optional<Event>& stored, const NewEvent& event) const;

  /// What View::one looks for: the number, or the key in it; nullopt: the table can't have such an event.
  [[nodiscard]] std::optional<std::string> number_parameter(std::string_view event_no) const;
  /// When a finished row was last changed, as SQL; empty: no column tells.
  [[nodiscard]] std::string finished_time() const;

  /// The texts of the outbox, on the delivery table.
  [[nodiscard]] TableTexts delivery_texts() const;
  /// Which rows a question is about. `listed`: those that have an id, which without key_is_id() are the registered.
  /// `one`: with the parameter that number_parameter() makes.
  enum class View { all, unfinished, listed, listed_unfinished, one };
  /// The texts of the outbox that only read, on the table and the delivery table together.
  [[nodiscard]] TableTexts view_texts(View view) const;
  /// A text that is about adopted tables: `{source}`, `{delivery}`, `{key}` and so on.
  [[nodiscard]] std::string render(std::string_view text) const;

  /// CREATE TABLE of the delivery table.
  [[nodiscard]] std::string render_delivery(std::string_view text) const;
  /// The same for a table that is known to have a whole-number key `id`.
  [[nodiscard]] static std::string render_delivery(std::string_view text, const TableModel& model);
  /// The note that says which table a delivery table serves.
  [[nodiscard]] static std::string note_of(const TableModel& model) { return "table of " + model.delivery_table; }
  [[nodiscard]] static std::string note_sql(const TableModel& model);  ///< for `init --print-sql`
  /// Throws StorageError `schema` unless that note names this table. nullopt: there is no such note.
  static void require_served(const TableModel& model, const std::optional<std::string>& served);
  /// A row has a status that the model says nothing of.
  [[noreturn]] void refuse_status(std::string_view value) const;
  /// Throws StorageError `invalid` when no column tells when a row was finished.
  void require_finished_time() const;
  [[noreturn]] void refuse_archive() const;
  [[noreturn]] void refuse_rollup() const;

  /// What `doctor` says, and the log when a store is opened: does an index serve the search for new rows?
  [[nodiscard]] std::vector<Finding> findings() const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;

  [[nodiscard]] static std::vector<std::pair<std::string_view, Value>> fields_of(const NewEvent& event, Timestamp now);
  [[nodiscard]] std::string difference(const Event& stored, NewEvent event) const;
  void find_key();
  void check_columns() const;
  void check_status() const;
  void check_times() const;
  void find_indexes();
  void name_parts();
  [[noreturn]] void refuse(const std::string& what) const;

  [[nodiscard]] const TableFacts::Column* column(std::string_view name) const;
  [[nodiscard]] std::string own(std::string_view name) const;  ///< `t`.`column`, or empty
  [[nodiscard]] std::string quoted(std::string_view name) const;
  [[nodiscard]] std::string literal(const std::string& value, bool text) const;
  [[nodiscard]] std::string status_list(std::initializer_list<const std::vector<std::string>*> values) const;
  [[nodiscard]] std::string first_of(std::initializer_list<const std::vector<std::string>*> values) const;
  [[nodiscard]] std::string joined(const std::string& a, const std::string& b) const;
  [[nodiscard]] std::string text_of(const std::string& expression) const;
  [[nodiscard]] std::string unicode(const std::string& expression) const;
  [[nodiscard]] std::string json_of(std::string_view name) const;
  [[nodiscard]] std::string time_of(std::string_view name) const;
  [[nodiscard]] std::string time_for(std::string_view name, const std::string& value) const;
  [[nodiscard]] bool is_zoned(std::string_view name) const;
  [[nodiscard]] std::string zone() const;
  [[nodiscard]] std::string now() const;

  [[nodiscard]] std::string content(std::string_view name) const;  ///< a column of ours, from the table's row
  [[nodiscard]] std::string state(std::string_view name) const;    ///< the same, from the delivery row if there is one
  [[nodiscard]] std::string seen_status() const;
  [[nodiscard]] std::string registered_status() const;
  [[nodiscard]] std::string registered_due() const;
  [[nodiscard]] std::string registered(std::string_view name) const;
  [[nodiscard]] std::string fitting(const TableFacts::Column& theirs, const std::string& value) const;
  [[nodiscard]] std::string assignments() const;
  [[nodiscard]] std::string status_shown() const;

  TableModel model_;
  TableFacts facts_;
  Dialect dialect_;
  std::string key_;
  bool key_is_id_{false};
  std::string key_index_;     ///< empty: the row's own number (SQLite)
  std::string status_index_;  ///< begins with the status; empty: there is none
  bool well_served_{false};   ///< and gives the rows in order
  Names parts_;
};

}  // namespace waybill::backends
