#pragma once
// An adopted table in a SQLite file.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "common/adopted_rows.hpp"
#include "common/adopted_table.hpp"
#include "sqlite/sqlite_statement.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::sqlite {

/// What the repository does beside the delivery table. Tied to one open file; thread-confined.
class Adopted final : public backends::AdoptedRows {
 public:
  /// From then on `statements` are about the delivery table.
  Adopted(Statements& statements, backends::AdoptedTable table, const IClock& clock);

  [[nodiscard]] const backends::AdoptedTable& table() const noexcept { return table_; }
  /// Throws StorageError `schema` unless `waybill init` has made the delivery table, and for this very table.
  void require_ready(bool writable);

  /// Inserts into the table itself; see AdoptedTable::append_text().
  [[nodiscard]] std::vector<AppendResult> append(std::span<const NewEvent> events);
  /// The rows say what became of their events. Within the transaction that changed them.
  void show(std::span<const std::int64_t> ids);
  /// Events whose row is no longer to be delivered: forgets them, and takes them out.
  void drop_withdrawn(std::vector<Event>& events);
  [[nodiscard]] std::optional<Event> find(std::string_view event_no);
  /// Statements that read the table and its delivery together.
  [[nodiscard]] Statements& view(backends::AdoptedTable::View view);
  /// Deletes rows that were finished before; how many. Throws `invalid` when nothing tells the time.
  std::size_t purge(Timestamp before, std::size_t limit);

 private:
  using View = backends::AdoptedTable::View;

  std::int64_t newest_key() override;
  std::size_t register_all(std::size_t most) override;
  std::size_t register_behind(std::int64_t key, std::size_t most) override;
  void tidy() override;
  void forget(Statement& which);

  Statements& statements_;
  const IClock& clock_;
  backends::AdoptedTable table_;
  std::array<Statements, 5> views_;
  /// The texts for this table; their addresses are the statements' keys.
  struct Texts {
    std::string register_all, register_behind, newest_key, show, done, stale, finished, remove, unknown_status;
  };
  Texts texts_;
  std::string append_text_;  ///< made when first needed
};

/// Reads what the table is like. Throws StorageError `schema` when waybill can't work on it.
[[nodiscard]] backends::AdoptedTable read_table(Statements& statements, const TableModel& model);
/// `init`: the delivery table. Throws `schema` when that one serves another table.
void create_delivery_table(Statements& statements, const TableModel& model);

}  // namespace waybill::sqlite
