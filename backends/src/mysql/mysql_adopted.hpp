#pragma once
// An adopted table in a MySQL or MariaDB database.

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/adopted_rows.hpp"
#include "common/adopted_table.hpp"
#include "mysql/mysql_connection.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::mysql {

/// What the repository does beside the delivery table. Tied to one connection; thread-confined.
class Adopted final : public backends::AdoptedRows {
 public:
  /// From then on `connection`'s statements are about the delivery table.
  Adopted(Connection& connection, backends::AdoptedTable table);

  [[nodiscard]] const backends::AdoptedTable& table() const noexcept { return table_; }
  /// Throws StorageError: `schema` unless `waybill init` has made the delivery table, and for this very table; `denied`
  /// when the user may not write to the table.
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
  /// A number that changes when there may be new rows.
  [[nodiscard]] std::int64_t sign();

 private:
  using View = backends::AdoptedTable::View;

  std::int64_t newest_key() override;
  std::size_t register_all(std::size_t most) override;
  std::size_t register_behind(std::int64_t key, std::size_t most) override;
  void tidy() override;
  void forget(Statement& which);
  bool insert(const NewEvent& event, Timestamp now);

  Connection& connection_;
  Statements& statements_;
  backends::AdoptedTable table_;
  std::array<Statements, 5> views_;
  /// The texts for this table; their addresses are the statements' keys.
  struct Texts {
    std::string register_all, register_behind, newest_key, pending_sign, show, done, stale, finished, remove,
        unknown_status;
  };
  Texts texts_;
  std::string append_text_;  ///< made when first needed
};

/// Reads what the table is like. Throws StorageError `schema` when waybill can't work on it.
[[nodiscard]] backends::AdoptedTable read_table(Statements& statements, const TableModel& model);

/// Which table the delivery table serves; nullopt: it isn't there.
[[nodiscard]] std::optional<std::string> served_table(Statements& statements, const TableModel& model);

}  // namespace waybill::mysql
