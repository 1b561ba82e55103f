#include "sqlite/sqlite_adopted.hpp"

#include <map>

#include "common/event_row.hpp"
#include "sqlite/sqlite_connection.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_schema.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;
using backends::AdoptedTable;
using backends::TableFacts;

constexpr auto kItself = [](std::int64_t id) { return id; };

TableFacts facts_of(Statements& statements, const std::string& table) {
  TableFacts facts;
  std::map<std::int64_t, std::string> key;
  const Query columns(statements.get(texts::table_columns));
  columns->bind(1, table);
  while (columns->step()) {
    facts.columns.push_back(
        {std::string(columns->text(0)), std::string(columns->text(1)), {}, 0, columns->integer(2) == 0});
    if (columns->integer(3) != 0) key.emplace(columns->integer(3), columns->text(0));
  }
  for (auto& [place, name] : key) facts.primary_key.push_back(std::move(name));
  const Query indexes(statements.get(texts::table_indexes));
  indexes->bind(1, table);
  while (indexes->step()) {
    if (facts.indexes.empty() || facts.indexes.back().name != indexes->text(0))
      facts.indexes.push_back({std::string(indexes->text(0)), {}, indexes->integer(1) != 0});
    facts.indexes.back().columns.emplace_back(indexes->text(2));
  }
  return facts;
}

std::optional<std::string> served_table(Statements& statements, const TableModel& model) {
  const std::string name = AdoptedTable::note_of(model);
  const Query note(statements.get(texts::note));
  note->bind(1, name);
  return note->step() ? note->optional_text(0) : std::nullopt;
}

}  // namespace

AdoptedTable read_table(Statements& statements, const TableModel& model) {
  return AdoptedTable(model, facts_of(statements, model.table), backends::Dialect::sqlite);
}

void create_delivery_table(Statements& statements, const TableModel& model) {
  const std::string script = read_table(statements, model).render_delivery(texts::create_delivery_table);
  WriteTransaction transaction(statements);
  if (const auto served = served_table(statements, model)) AdoptedTable::require_served(model, served);
  run_script(statements, script, "create " + model.delivery_table);
  const std::string name = AdoptedTable::note_of(model);
  statements.get(texts::set_note).bind(1, name).bind(2, model.table).run();
  transaction.commit();
}

Adopted::Adopted(Statements& statements, AdoptedTable adopted, const IClock& clock, bool writable)
    : AdoptedStore(std::move(adopted)),
      statements_(statements),
      clock_(clock),
      views_{{Statements(statements.db(), table().view_texts(View::all)),
              Statements(statements.db(), table().view_texts(View::unfinished)),
              Statements(statements.db(), table().view_texts(View::listed)),
              Statements(statements.db(), table().view_texts(View::listed_unfinished)),
              Statements(statements.db(), table().view_texts(View::one))}},
      texts_{table().render(texts::adopted_register),      table().render(texts::adopted_register_behind),
             table().render(texts::adopted_newest_key),    table().render(texts::adopted_show),
             table().render(texts::adopted_done),          table().render(texts::adopted_stale),
             table().render(texts::adopted_finished),      table().render(texts::adopted_delete),
             table().render(texts::adopted_unknown_status)} {
  AdoptedTable::require_served(table().model(), served_table(statements_, table().model()));
  statements_.use(table().delivery_texts());
  // Prepared once, so that a column that can't be written is told now.
  if (writable) (void)statements_.get(texts_.show);
}

std::optional<std::string> Adopted::unknown_status() {
  const Query unknown(statements_.get(texts_.unknown_status));
  return unknown->step() ? unknown->optional_text(0) : std::nullopt;
}

bool Adopted::insert(const NewEvent& event, Timestamp now) {
  if (append_text_.empty()) append_text_ = table().append_text();
  Statement& row = statements_.get(append_text_);
  int place = 0;
  for (const AdoptedTable::Value& value : table().appended(event, now))
    std::visit([&](const auto& one) { row.bind(++place, one); }, value);
  return row.run() == 1;
}

std::optional<Event> Adopted::find(std::string_view event_no) {
  const std::optional<std::string> number = table().number_parameter(event_no);
  if (!number) return std::nullopt;
  const Query query(view(View::one).get(texts::adopted_find));
  query->bind(1, *number);
  if (!query->step()) return std::nullopt;
  return backends::read_event(*query);
}

Statements& Adopted::view(View view) { return views_[static_cast<std::size_t>(view)]; }

void Adopted::show(std::span<const std::int64_t> ids) {
  if (ids.empty()) return;
  const std::string list = json_list(ids, kItself);
  statements_.get(texts_.show).bind(1, list).run();
}

std::vector<std::string> Adopted::finished_keys(Timestamp before, std::size_t limit) {
  std::vector<std::string> keys;
  const Query rows(statements_.get(texts_.finished));
  rows->bind(1, before).bind(2, static_cast<std::int64_t>(limit));
  while (rows->step()) keys.emplace_back(rows->text(0));
  return keys;
}

void Adopted::remove(std::span<const std::string> keys) {
  for (const std::string& key : keys) statements_.get(texts_.remove).bind(1, key).run();
}

std::int64_t Adopted::newest_key() { return statements_.integer(texts_.newest_key); }

std::size_t Adopted::register_all(std::size_t most) {
  Statement& rows = statements_.get(texts_.register_all);
  return static_cast<std::size_t>(rows.bind(1, clock_.now()).bind(2, static_cast<std::int64_t>(most)).run());
}

std::size_t Adopted::register_behind(std::int64_t key, std::size_t most) {
  Statement& rows = statements_.get(texts_.register_behind);
  rows.bind(1, clock_.now()).bind(2, static_cast<std::int64_t>(most)).bind(3, key);
  return static_cast<std::size_t>(rows.run());
}

std::vector<std::int64_t> Adopted::done(Duration ago, std::size_t most) {
  Statement& rows = statements_.get(texts_.done);
  return integers(rows.bind(1, clock_.now() - ago).bind(2, static_cast<std::int64_t>(most)));
}

std::vector<std::int64_t> Adopted::stale(std::size_t most) {
  return integers(statements_.get(texts_.stale).bind(1, static_cast<std::int64_t>(most)));
}

void Adopted::forget(std::span<const std::int64_t> ids) {
  for (const std::int64_t id : ids) statements_.get(texts::delete_row).bind(1, id).run();
}

}  // namespace waybill::sqlite
