#include "mysql/mysql_adopted.hpp"

#include "common/event_row.hpp"
#include "mysql/mysql_schema.hpp"
#include "mysql/mysql_tokens.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;
using backends::AdoptedTable;
using backends::TableFacts;

TableFacts facts_of(Statements& statements, const std::string& table) {
  TableFacts facts;
  {
    const Query columns(statements.get(texts::table_columns).add(std::string_view(table)));
    while (columns->next()) {
      const std::string collation = columns->is_null(2) ? "" : " COLLATE " + std::string(columns->text(2));
      facts.columns.push_back({std::string(columns->text(0)), std::string(columns->text(1)), collation,
                               static_cast<std::size_t>(columns->integer(3)), columns->integer(4) != 0});
    }
  }
  const Query indexes(statements.get(texts::table_indexes).add(std::string_view(table)));
  while (indexes->next()) {
    if (facts.indexes.empty() || facts.indexes.back().name != indexes->text(0))
      facts.indexes.push_back({std::string(indexes->text(0)), {}, indexes->integer(1) != 0});
    facts.indexes.back().columns.emplace_back(indexes->text(2));
    if (indexes->text(0) == "PRIMARY") facts.primary_key.emplace_back(indexes->text(2));
  }
  return facts;
}

}  // namespace

std::optional<std::string> served_table(Statements& statements, const TableModel& model) {
  const std::string name = AdoptedTable::note_of(model);
  const Query note(statements.get(texts::note).add(std::string_view(name)));
  return note->next() ? note->optional_text(0) : std::nullopt;
}

AdoptedTable read_table(Statements& statements, const TableModel& model) {
  return AdoptedTable(model, facts_of(statements, model.table), backends::Dialect::mysql);
}

Adopted::Adopted(Connection& connection, AdoptedTable adopted, bool writable)
    : AdoptedStore(std::move(adopted)),
      connection_(connection),
      statements_(connection.statements()),
      views_{{Statements(connection.handle(), table().view_texts(View::all)),
              Statements(connection.handle(), table().view_texts(View::unfinished)),
              Statements(connection.handle(), table().view_texts(View::listed)),
              Statements(connection.handle(), table().view_texts(View::listed_unfinished)),
              Statements(connection.handle(), table().view_texts(View::one))}},
      texts_{table().render(texts::adopted_register),   table().render(texts::adopted_register_behind),
             table().render(texts::adopted_newest_key), table().render(texts::adopted_pending_sign),
             table().render(texts::adopted_show),       table().render(texts::adopted_done),
             table().render(texts::adopted_stale),      table().render(texts::adopted_finished),
             table().render(texts::adopted_delete),     table().render(texts::adopted_unknown_status)} {
  AdoptedTable::require_served(table().model(), served_table(statements_, table().model()));
  statements_.use(table().delivery_texts());
  // Prepared once, so that a column that can't be written is told now.
  if (writable) (void)statements_.get_list(texts_.show, 1);
}

std::optional<std::string> Adopted::unknown_status() {
  const Query unknown(statements_.get(texts_.unknown_status));
  return unknown->next() ? unknown->optional_text(0) : std::nullopt;
}

bool Adopted::insert(const NewEvent& event, Timestamp now) {
  if (append_text_.empty()) append_text_ = table().append_text();
  Statement& row = statements_.get(append_text_);
  for (const AdoptedTable::Value& value : table().appended(event, now))
    std::visit([&](const auto& one) { row.add(one); }, value);
  try {
    row.run();
    return true;
  } catch (const ServerError& error) {
    // The server undid this statement only; the transaction goes on.
    if (error.number() == kDuplicateEntry) return false;
    if (error.code() != ErrorCode::invalid) throw;
    throw InvalidEvent("event_payload", event.event_no + ": the server refused it: " + error.what());
  }
}

std::optional<Event> Adopted::find(std::string_view event_no) {
  const std::optional<std::string> number = table().number_parameter(event_no);
  if (!number) return std::nullopt;
  const Query query(view(View::one).get(texts::adopted_find).add(std::string_view(*number)));
  if (!query->next()) return std::nullopt;
  return backends::read_event(*query);
}

Statements& Adopted::view(View view) { return views_[static_cast<std::size_t>(view)]; }

void Adopted::show(std::span<const std::int64_t> ids) {
  in_parts(ids, [&](std::span<const std::int64_t> part) {
    statements_.get_list(texts_.show, part.size()).add_list(part, kItself).run();
  });
}

std::vector<std::string> Adopted::finished_keys(Timestamp before, std::size_t limit) {
  std::vector<std::string> keys;
  const Query rows(statements_.get(texts_.finished).add(before).add(static_cast<std::int64_t>(limit)));
  while (rows->next()) keys.emplace_back(rows->text(0));
  return keys;
}

void Adopted::remove(std::span<const std::string> keys) {
  in_parts(keys, [&](std::span<const std::string> part) {
    Statement& rows = statements_.get_list(texts_.remove, part.size());
    rows.add_list(part, [](const std::string& key) { return std::string_view(key); });
    rows.add(static_cast<std::int64_t>(part.size())).run();
  });
}

std::int64_t Adopted::sign() { return table().key_is_id() ? newest_key() : statements_.integer(texts_.pending_sign); }

std::int64_t Adopted::newest_key() { return statements_.integer(texts_.newest_key); }

std::size_t Adopted::register_all(std::size_t most) {
  return statements_.get(texts_.register_all).add(static_cast<std::int64_t>(most)).run();
}

std::size_t Adopted::register_behind(std::int64_t key, std::size_t most) {
  return statements_.get(texts_.register_behind).add(key).add(static_cast<std::int64_t>(most)).run();
}

std::vector<std::int64_t> Adopted::done(Duration ago, std::size_t most) {
  return integers(statements_.get(texts_.done).add(connection_.now() - ago).add(static_cast<std::int64_t>(most)));
}

std::vector<std::int64_t> Adopted::stale(std::size_t most) {
  return integers(statements_.get(texts_.stale).add(static_cast<std::int64_t>(most)));
}

void Adopted::forget(std::span<const std::int64_t> ids) { delete_rows(statements_, texts::delete_rows, ids); }

}  // namespace waybill::mysql
