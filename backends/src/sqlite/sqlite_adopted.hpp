#pragma once
// An adopted table in a SQLite file.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "common/adopted_store.hpp"
#include "sqlite/sqlite_statement.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::sqlite {

/// Tied to one open file; thread-confined.
class Adopted final : public backends::AdoptedStore {
 public:
  /// From then on `statements` are about the delivery table. Throws StorageError `schema` unless `waybill init` has
  /// made that one, and for this very table.
  Adopted(Statements& statements, backends::AdoptedTable adopted, const IClock& clock, bool writable);

  [[nodiscard]] std::optional<Event> find(std::string_view event_no) override;
  void show(std::span<const std::int64_t> ids) override;
  /// Statements that read the table and its delivery together.
  [[nodiscard]] Statements& view(backends::AdoptedTable::View view);

 private:
  using View = backends::AdoptedTable::View;

  std::optional<std::string> unknown_status() override;
  std::int64_t newest_key() override;
  std::size_t register_all(std::size_t most) override;
  std::size_t register_behind(std::int64_t key, std::size_t most) override;
  std::vector<std::int64_t> done(Duration ago, std::size_t most) override;
  std::vector<std::int64_t> stale(std::size_t most) override;
  void forget(std::span<const std::int64_t> ids) override;
  bool insert(const NewEvent& event, Timestamp now) override;
  std::vector<std::string> finished_keys(Timestamp before, std::size_t limit) override;
  void remove(std::span<const std::string> keys) override;

  Statements& statements_;
  const IClock& clock_;
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
