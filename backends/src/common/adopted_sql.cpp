// An adopted table's texts.

#include <algorithm>
#include <array>
#include <map>

#include "common/adopted_columns.hpp"
#include "common/adopted_table.hpp"
#include "waybill/error.hpp"

namespace waybill::backends {
namespace {

using Values = std::vector<std::string>;

/// What waybill writes into the table, where it has a column for it.
constexpr std::array<std::string_view, 9> kWritten{"retry_count", "next_retry_time",   "locked_by",
                                                   "lock_until",  "last_publish_time", "published_time",
                                                   "fail_reason", "version",           "update_time"};
/// What the delivery table keeps of an event; the rest is read from the table each time.
constexpr std::string_view kRegistered =
    "event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel, topic, "
    "routing_key, publish_status, retry_count, max_retry_count, next_retry_time, last_publish_time, fail_reason, "
    "trace_id, remark, version, create_time, update_time";
constexpr std::size_t kKeptChars = 255;  // of a text in the delivery table

using Names = std::map<std::string, std::string, std::less<>>;

/// `{name}` by what it stands for; others stay, for those who know them.
std::string replaced(std::string_view text, const Names& names) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', at)) {
    const std::size_t close = text.find('}', open) + 1;
    const auto name = names.find(text.substr(open + 1, close - open - 2));
    result.append(text.substr(at, open - at));
    result += name != names.end() ? name->second : std::string(text.substr(open, close - open));
    at = close;
  }
  return result.append(text.substr(at));
}

std::string index_stem(const TableModel& model) { return "idx_" + model.delivery_table; }

std::string render_delivery(std::string_view text, const TableModel& model, const std::string& key_definition) {
  const std::string stem = index_stem(model);
  const std::string done = stem + "_done";
  // {exact} and others are the dialect's.
  return replaced(
      text,
      {{"delivery", model.delivery_table}, {"index", stem}, {"done_index", done}, {"key_definition", key_definition}});
}

}  // namespace

std::string AdoptedTable::append_text() const {
  if (!has_unique_number())
    throw StorageError(ErrorCode::invalid, name() +
                                               " has no unique column for event_no, so an event could not be told from "
                                               "its repetition; insert rows in your own transaction");
  std::string columns = quoted(model_.columns.at("publish_status"));
  std::string values = first_of({&model_.status.pending});
  for (const auto& [one, unused] : fields_of(NewEvent{}, Timestamp{})) {
    if (!has(one)) continue;
    columns += ", " + quoted(model_.columns.at(std::string(one)));
    values += ", " + (is_time(one) ? time_for(one, "?") : std::string("?"));
  }
  const bool sqlite = dialect_ == Dialect::sqlite;
  return "INSERT INTO " + quoted(model_.table) + " (" + columns + ") VALUES (" + values + ")" +
         (sqlite ? " ON CONFLICT (" + quoted(model_.columns.at("event_no")) + ") DO NOTHING" : "");
}

std::string AdoptedTable::quoted(std::string_view name) const { return "`" + std::string(name) + "`"; }

std::string AdoptedTable::own(std::string_view name) const {
  const auto found = model_.columns.find(std::string(name));
  return found == model_.columns.end() ? std::string{} : "t." + quoted(found->second);
}

std::string AdoptedTable::literal(const std::string& value, bool text) const {
  return text ? "'" + value + "'" : value;  // require_valid(): no quote is in it, or it is a number
}

std::string AdoptedTable::status_list(std::initializer_list<const Values*> lists) const {
  Values literals;
  for (const Values* values : lists)
    for (const std::string& value : *values) {
      std::string one = literal(value, model_.status.text);
      if (std::find(literals.begin(), literals.end(), one) == literals.end()) literals.push_back(std::move(one));
    }
  return own("publish_status") + " IN (" + list_of(literals) + ")";
}

std::string AdoptedTable::first_of(std::initializer_list<const Values*> lists) const {
  for (const Values* values : lists)
    if (!values->empty()) return literal(values->front(), model_.status.text);
  return "NULL";
}

std::string AdoptedTable::joined(const std::string& a, const std::string& b) const {
  return dialect_ == Dialect::mysql ? "CONCAT(" + a + ", " + b + ")" : a + " || " + b;
}

std::string AdoptedTable::text_of(const std::string& expression) const {
  return "CAST(" + expression + (dialect_ == Dialect::mysql ? " AS CHAR) COLLATE utf8mb4_bin" : " AS TEXT)");
}

/// The table may have another character set than what it is put together with.
std::string AdoptedTable::unicode(const std::string& expression) const {
  return dialect_ == Dialect::mysql ? "CONVERT(" + expression + " USING utf8mb4) COLLATE utf8mb4_bin" : expression;
}

/// JSON as it is, any other text as a JSON string.
std::string AdoptedTable::json_of(std::string_view name) const {
  const bool json = dialect_ == Dialect::mysql && column(model_.columns.at(std::string(name)))->type == "json";
  const std::string value = json ? own(name) : unicode(own(name));
  if (json) return value;
  return "CASE WHEN " + value + " IS NULL OR JSON_VALID(" + value + ") THEN " + value + " ELSE JSON_QUOTE(" + value +
         ") END";
}

/// A time of the table as waybill reads it. SQLite: texts, and whole numbers of seconds, milliseconds or microseconds.
std::string AdoptedTable::time_of(std::string_view name) const {
  const std::string value = own(name);
  if (dialect_ == Dialect::mysql) {
    const std::string precise = "CAST(" + value + " AS DATETIME(6))";
    return is_zoned(name) ? precise : "CONVERT_TZ(" + precise + ", " + zone() + ", '+00:00')";
  }
  return "CASE typeof(" + value + ") WHEN 'integer' THEN " + value + " * CASE WHEN abs(" + value +
         ") < 100000000000 THEN 1000000 WHEN abs(" + value + ") < 100000000000000 THEN 1000 ELSE 1 END ELSE " +
         "CAST(round((julianday(" + value + ") - 2440587.5) * 86400000.0) AS INTEGER) * 1000 END";
}

/// A time of ours as the table keeps it.
std::string AdoptedTable::time_for(std::string_view name, const std::string& value) const {
  if (dialect_ == Dialect::mysql) return is_zoned(name) ? value : "CONVERT_TZ(" + value + ", '+00:00', " + zone() + ")";
  const bool number = contains(column(model_.columns.at(std::string(name)))->type, "int");
  return number ? value : "strftime('%Y-%m-%d %H:%M:%f', " + value + " / 1000000.0, 'unixepoch')";
}

/// MySQL: a TIMESTAMP is a point in time, a DATETIME what a clock showed.
bool AdoptedTable::is_zoned(std::string_view name) const {
  return column(model_.columns.at(std::string(name)))->type.starts_with("timestamp") || model_.time_zone == "+00:00";
}

std::string AdoptedTable::zone() const {
  return model_.time_zone.empty() ? "@@global.time_zone" : "'" + model_.time_zone + "'";
}

std::string AdoptedTable::now() const { return dialect_ == Dialect::mysql ? "UTC_TIMESTAMP(6)" : "?1"; }

std::string AdoptedTable::content(std::string_view name) const {
  const std::string value = own(name);
  if (name == "event_payload") return "COALESCE(" + json_of(name) + ", 'null')";
  if (name == "event_headers") return value.empty() ? text_of("NULL") : json_of(name);
  if (!value.empty() && is_time(name)) return time_of(name);
  const auto constant = model_.constants.find(std::string(name));
  const std::string table = "'" + model_.table + "'";
  const std::string key = text_of("t." + quoted(key_));
  if (is_number(name)) {
    const std::string fallback = constant != model_.constants.end() ? constant->second
                                 : name == "event_version"          ? "1"
                                 : name == "max_retry_count"        ? "5"
                                                                    : "0";
    return value.empty() ? fallback : "COALESCE(" + value + ", " + fallback + ")";
  }
  if (name == "event_no" && !value.empty()) return value;  // as it is: its index finds it
  if (!value.empty()) return name == "aggregate_id" ? "COALESCE(" + unicode(value) + ", " + key + ")" : unicode(value);
  if (constant != model_.constants.end()) return "'" + constant->second + "'";
  if (name == "event_no") return joined("'" + model_.table + ":'", key);
  if (name == "aggregate_id") return key;
  if (name == "publish_channel") return "'MQ'";
  if (name == "aggregate_type" || name == "event_type" || name == "event_source") return table;
  return is_time(name) && dialect_ == Dialect::mysql ? "CAST(NULL AS DATETIME(6))" : text_of("NULL");
}

std::string AdoptedTable::seen_status() const {
  const StatusValues& status = model_.status;
  std::string text = "CASE WHEN " + status_list({&status.succeeded}) + " THEN 2";
  if (!status.cancelled.empty()) text += " WHEN " + status_list({&status.cancelled}) + " THEN 4";
  text += " WHEN d.id IS NOT NULL THEN d.publish_status";
  if (!status.in_progress.empty()) text += " WHEN " + status_list({&status.in_progress}) + " THEN 1";
  if (!status.retrying.empty() || !status.failed.empty())
    text += " WHEN " + status_list({&status.retrying, &status.failed}) + " THEN 3";
  return text + " ELSE 0 END";
}

std::string AdoptedTable::state(std::string_view name) const {
  if (name == "id") return key_is_id_ ? "t." + quoted(key_) : "COALESCE(d.id, 0)";
  if (name == "publish_status") return seen_status();
  static constexpr std::array<std::string_view, 10> kDelivered{
      "retry_count",       "max_retry_count", "next_retry_time", "locked_by", "lock_until",
      "last_publish_time", "published_time",  "fail_reason",     "version",   "update_time"};
  std::string value = content(name);
  if (name == "update_time" && !has(name)) value = has("create_time") ? content("create_time") : "d.create_time";
  if (name == "create_time" && !has(name)) return "d.create_time";
  if (std::find(kDelivered.begin(), kDelivered.end(), name) == kDelivered.end()) return value;
  return "CASE WHEN d.id IS NULL THEN " + value + " ELSE d." + std::string(name) + " END";
}

std::string AdoptedTable::registered_status() const {
  if (model_.status.retrying.empty() && model_.status.failed.empty()) return "0";
  return "CASE WHEN " + status_list({&model_.status.retrying, &model_.status.failed}) + " THEN 3 ELSE 0 END";
}

/// A row that means "try again" and does not say when is due now; one that means "given up" never is.
std::string AdoptedTable::registered_due() const {
  const bool says_when = has("next_retry_time");
  const bool told_apart = !model_.status.retrying.empty() && model_.status.retrying != model_.status.failed;
  if (says_when || !told_apart) return content("next_retry_time");
  return "CASE WHEN " + status_list({&model_.status.retrying}) + " THEN " + now() + " END";
}

std::string AdoptedTable::registered(std::string_view name) const {
  if (name == "publish_status") return registered_status();
  if (name == "next_retry_time") return registered_due();
  if (name == "update_time" || name == "create_time")
    return has(name) ? "COALESCE(" + content(name) + ", " + now() + ")" : now();
  const std::string value = content(name);
  if (is_number(name) || is_time(name) || dialect_ == Dialect::sqlite) return value;
  return "LEFT(" + value + ", " + std::to_string(kKeptChars) + ")";
}

/// Where the table has no word for a state, the nearest it has.
std::string AdoptedTable::status_shown() const {
  const StatusValues& status = model_.status;
  const std::string retrying = first_of({&status.retrying, &status.pending});
  const std::string dead = first_of({&status.failed, &status.retrying, &status.pending});
  return "CASE d.publish_status WHEN 1 THEN " + first_of({&status.in_progress, &status.pending}) + " WHEN 2 THEN " +
         first_of({&status.succeeded}) +
         " WHEN 3 THEN CASE WHEN d.retry_count >= d.max_retry_count OR d.next_retry_time IS NULL THEN " + dead +
         " ELSE " + retrying + " END WHEN 4 THEN " + first_of({&status.cancelled, &status.failed, &status.pending}) +
         " ELSE " + first_of({&status.pending}) + " END";
}

/// A text of ours as their column can hold it: a character that it can't would be an error, and that event's relay
/// would not come past it. (MariaDB takes even CONVERT for an error there.)
std::string AdoptedTable::fitting(const TableFacts::Column& theirs, const std::string& value) const {
  const auto is_in = [&](const std::string& charset) { return theirs.collation.starts_with(" COLLATE " + charset); };
  const std::string foreign = is_in("utf8mb4")  ? ""
                              : is_in("utf8")   ? "[\U00010000-\U0010FFFF]"
                              : is_in("latin1") ? "[^ -~\u00A0-\u00FF]"
                                                : "[^ -~]";
  const bool whole = foreign.empty() || theirs.collation.empty();
  const std::string text = whole ? value : "REGEXP_REPLACE(" + value + " COLLATE utf8mb4_bin, '" + foreign + "', '?')";
  return "LEFT(" + text + ", " + std::to_string(theirs.max_chars) + ")";
}

std::string AdoptedTable::assignments() const {
  const std::string alias = dialect_ == Dialect::mysql ? "t." : "";
  std::string text = alias + quoted(model_.columns.at("publish_status")) + " = " + status_shown();
  for (const std::string_view name : kWritten) {
    if (!has(name)) continue;
    const TableFacts::Column& theirs = *column(model_.columns.at(std::string(name)));
    std::string value = "d." + std::string(name);
    if (is_time(name)) value = time_for(name, value);
    if (theirs.max_chars != 0) value = fitting(theirs, value);
    text += ", " + alias + quoted(theirs.name) + " = " + value;
  }
  return text;
}

void AdoptedTable::name_parts() {
  const StatusValues& status = model_.status;
  const bool mysql = dialect_ == Dialect::mysql;
  const auto hint = [&](const std::string& index) {
    if (index.empty()) return std::string{};
    return mysql ? " FORCE INDEX (" + quoted(index) + ")" : " INDEXED BY " + quoted(index);
  };
  std::string visible = has("deleted") ? own("deleted") + " = 0" : "";
  if (!model_.filter.empty()) visible += (visible.empty() ? "(" : " AND (") + model_.filter + ")";
  if (visible.empty()) visible = "1 = 1";
  const std::string order = "t." + quoted(model_.order.empty() ? key_ : model_.order);
  parts_["source"] = quoted(model_.table);
  parts_["delivery"] = quoted(model_.delivery_table);
  parts_["done_index"] = index_stem(model_) + "_done";
  parts_["key"] = "t." + quoted(key_);
  parts_["key_name"] = quoted(key_);
  parts_["key_column"] = key_is_id_ ? "id" : "source_key";
  parts_["link"] = std::string("d.") + (key_is_id_ ? "id" : "source_key") + " = t." + quoted(key_);
  parts_["visible"] = visible;
  parts_["open"] = status_list({&status.pending, &status.retrying, &status.failed});
  parts_["open_by_key"] = (mysql ? "" : "+") + parts_["open"];  // +: not by the status's index
  parts_["pending"] = status_list({&status.pending});
  parts_["live"] = status_list({&status.pending, &status.in_progress, &status.retrying, &status.failed});
  parts_["known"] = status_list(
      {&status.pending, &status.in_progress, &status.retrying, &status.succeeded, &status.failed, &status.cancelled});
  parts_["finished"] = status_list({&status.succeeded, &status.cancelled});
  parts_["finished_by_key"] = (mysql ? "" : "+") + parts_["finished"];
  parts_["order"] = order + (order == "t." + quoted(key_) ? "" : ", t." + quoted(key_));
  parts_["by_status"] = hint(status_index_);
  parts_["by_key"] = mysql ? hint(key_index_.empty() ? "PRIMARY" : key_index_) : hint(key_index_);
  parts_["status"] = own("publish_status");
  parts_["assignments"] = assignments();
  parts_["registered_columns"] = std::string(kRegistered);
  std::string values;
  for (const std::string& name : words_of(kRegistered)) values += (values.empty() ? "" : ", ") + registered(name);
  parts_["registered_values"] = values;
  // Dead and cancelled events whose row says otherwise by now. Only a table with a word for it can say "again".
  parts_["again"] = status.failed.empty() ? "1 = 0" : status_list({&status.pending});
  parts_["finished_time"] = finished_time().empty() ? "NULL" : finished_time();
  parts_["number"] = has("event_no") ? own("event_no") : "t." + quoted(key_);
}

std::string AdoptedTable::render(std::string_view text) const { return replaced(text, parts_); }

std::string AdoptedTable::render_delivery(std::string_view text, const TableModel& model) {
  return backends::render_delivery(text, model, {});
}

/// A key that is not the id is kept beside it, of the same type.
std::string AdoptedTable::render_delivery(std::string_view text) const {
  const TableFacts::Column& key = *column(key_);
  const std::string definition =
      key_is_id_ ? std::string{} : "source_key " + key.type + key.collation + " NOT NULL UNIQUE,\n    ";
  return backends::render_delivery(text, model_, definition);
}

TableTexts AdoptedTable::delivery_texts() const {
  const std::string from =
      "(SELECT %v FROM {source} AS t WHERE {key} = {delivery}.{key_column} AND {open} AND {visible})";
  const auto looked_up = [&](std::string_view name) {
    std::string text = from;
    return text.replace(text.find("%v"), 2, content(name));
  };
  TableTexts texts;
  texts.table = model_.delivery_table;
  texts.columns.clear();
  for (const std::string& name : words_of(kEventColumns)) {
    const bool kept = name != "event_payload" && name != "event_headers";
    texts.columns += (texts.columns.empty() ? "" : ", ") + (kept ? name : render(looked_up(name)));
  }
  return texts;
}

TableTexts AdoptedTable::view_texts(View view) const {
  const bool unfinished = view == View::unfinished || view == View::listed_unfinished;
  const bool registered_only = !key_is_id_ && (view == View::listed || view == View::listed_unfinished);
  std::string columns;
  for (const std::string& name : words_of(kEventColumns)) {
    const bool moving = name != "event_payload" && name != "event_headers";
    columns += (columns.empty() ? "" : ", ") + (moving ? state(name) : content(name)) + " AS " + name;
  }
  TableTexts texts;
  texts.table = "(SELECT " + columns +
                render(" FROM {source} AS t " + std::string(registered_only ? "" : "LEFT ") +
                       "JOIN {delivery} AS d ON {link} WHERE {visible}" + (unfinished ? " AND {live}" : "") +
                       (view == View::one ? " AND {number} = ?" : "")) +
                ") AS event";
  return texts;
}

}  // namespace waybill::backends
