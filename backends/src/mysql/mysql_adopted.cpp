#include "mysql/mysql_adopted.hpp"

#include <algorithm>
#include <map>

#include "common/event_row.hpp"
#include "mysql/mysql_schema.hpp"
#include "mysql/mysql_tokens.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;
using backends::AdoptedTable;
using backends::TableFacts;

constexpr Duration kKeepDone = std::chrono::seconds{5};  // while a lost COMMIT may be looked up, and hints followed
constexpr std::int64_t kMostTidied = 5000;

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

Adopted::Adopted(Connection& connection, AdoptedTable table)
    : AdoptedRows(table.key_is_id()),
      connection_(connection),
      statements_(connection.statements()),
      table_(std::move(table)),
      views_{{Statements(connection.handle(), table_.view_texts(View::all)),
              Statements(connection.handle(), table_.view_texts(View::unfinished)),
              Statements(connection.handle(), table_.view_texts(View::listed)),
              Statements(connection.handle(), table_.view_texts(View::listed_unfinished)),
              Statements(connection.handle(), table_.view_texts(View::one))}},
      texts_{table_.render(texts::adopted_register),   table_.render(texts::adopted_register_behind),
             table_.render(texts::adopted_newest_key), table_.render(texts::adopted_pending_sign),
             table_.render(texts::adopted_show),       table_.render(texts::adopted_done),
             table_.render(texts::adopted_stale),      table_.render(texts::adopted_finished),
             table_.render(texts::adopted_delete),     table_.render(texts::adopted_unknown_status)} {
  statements_.use(table_.delivery_texts());
}

void Adopted::require_ready(bool writable) {
  AdoptedTable::require_served(table_.model(), served_table(statements_, table_.model()));
  {
    const Query unknown(statements_.get(texts_.unknown_status));
    if (unknown->next()) table_.refuse_status(unknown->text(0));
  }
  // Prepared once, so that a column that can't be written is told now.
  if (writable) (void)statements_.get_list(texts_.show, 1);
}

std::vector<AppendResult> Adopted::append(std::span<const NewEvent> events) {
  if (append_text_.empty()) append_text_ = table_.append_text();
  const Timestamp now = connection_.now();
  std::vector<AppendResult> results;
  for (const NewEvent& event : events) {
    const bool inserted = insert(event, now);
    results.push_back(table_.judged(inserted, find(event.event_no), event));
  }
  return results;
}

bool Adopted::insert(const NewEvent& event, Timestamp now) {
  Statement& row = statements_.get(append_text_);
  for (const AdoptedTable::Value& value : table_.appended(event, now))
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

void Adopted::show(std::span<const std::int64_t> ids) {
  while (!ids.empty()) {
    const auto part = ids.first(std::min(ids.size(), kMostPlaces));
    statements_.get_list(texts_.show, part.size()).add_list(part, [](std::int64_t id) { return id; }).run();
    ids = ids.subspan(part.size());
  }
}

void Adopted::drop_withdrawn(std::vector<Event>& events) {
  const auto withdrawn = [](const Event& event) { return event.event_payload.empty(); };
  for (const Event& event : events)
    if (withdrawn(event)) statements_.get_list(texts::delete_rows, 1).add(event.id).add(std::int64_t{1}).run();
  events.erase(std::remove_if(events.begin(), events.end(), withdrawn), events.end());
}

std::optional<Event> Adopted::find(std::string_view event_no) {
  const std::optional<std::string> number = table_.number_parameter(event_no);
  if (!number) return std::nullopt;
  const Query query(view(View::one).get(texts::adopted_find).add(std::string_view(*number)));
  if (!query->next()) return std::nullopt;
  return backends::read_event(*query);
}

Statements& Adopted::view(View view) { return views_[static_cast<std::size_t>(view)]; }

std::size_t Adopted::purge(Timestamp before, std::size_t limit) {
  table_.require_finished_time();
  std::vector<std::string> keys;
  {
    Statement& finished = statements_.get(texts_.finished);
    const Query rows(finished.add(before).add(static_cast<std::int64_t>(limit)));
    while (rows->next()) keys.emplace_back(rows->text(0));
  }
  for (std::span<const std::string> rest = keys; !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), kMostPlaces));
    Statement& rows = statements_.get_list(texts_.remove, part.size());
    rows.add_list(part, [](const std::string& key) { return std::string_view(key); });
    rows.add(static_cast<std::int64_t>(part.size())).run();
    rest = rest.subspan(part.size());
  }
  return keys.size();
}

std::int64_t Adopted::sign() { return table_.key_is_id() ? newest_key() : statements_.integer(texts_.pending_sign); }

std::int64_t Adopted::newest_key() { return statements_.integer(texts_.newest_key); }

std::size_t Adopted::register_all(std::size_t most) {
  return statements_.get(texts_.register_all).add(static_cast<std::int64_t>(most)).run();
}

std::size_t Adopted::register_behind(std::int64_t key, std::size_t most) {
  return statements_.get(texts_.register_behind).add(key).add(static_cast<std::int64_t>(most)).run();
}

void Adopted::tidy() {
  forget(statements_.get(texts_.done).add(connection_.now() - kKeepDone).add(kMostTidied));
  forget(statements_.get(texts_.stale).add(kMostTidied));
}

void Adopted::forget(Statement& which) {
  std::vector<std::int64_t> ids;
  {
    const Query rows(which);
    while (rows->next()) ids.push_back(rows->integer(0));
  }
  for (std::span<const std::int64_t> rest = ids; !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), kMostPlaces));
    Statement& rows = statements_.get_list(texts::delete_rows, part.size());
    rows.add_list(part, [](std::int64_t id) { return id; }).add(static_cast<std::int64_t>(part.size())).run();
    rest = rest.subspan(part.size());
  }
}

}  // namespace waybill::mysql
