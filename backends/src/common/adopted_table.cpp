#include "common/adopted_table.hpp"

#include <algorithm>
#include <array>

#include "waybill/error.hpp"
#include "waybill/options.hpp"

namespace waybill::backends {
namespace {

using Values = std::vector<std::string>;

constexpr std::array<std::string_view, 6> kTimes{"next_retry_time", "lock_until",  "last_publish_time",
                                                 "published_time",  "create_time", "update_time"};
/// What waybill writes into the table, where it has a column for it.
constexpr std::array<std::string_view, 9> kWritten{"retry_count", "next_retry_time",   "locked_by",
                                                   "lock_until",  "last_publish_time", "published_time",
                                                   "fail_reason", "version",           "update_time"};
/// What the delivery table keeps of an event; the rest is read from the table each time.
constexpr std::string_view kRegistered =
    "event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel, topic, "
    "routing_key, publish_status, retry_count, max_retry_count, next_retry_time, last_publish_time, fail_reason, "
    "trace_id, remark, version, create_time, update_time";
/// What an appended event says of itself.
constexpr std::string_view kAppended =
    "event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel, topic, "
    "routing_key, event_payload, event_headers, trace_id, remark, max_retry_count, next_retry_time, create_time, "
    "update_time";
constexpr std::size_t kKeptChars = 255;  // of a text in the delivery table

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return words;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_time(std::string_view name) { return std::find(kTimes.begin(), kTimes.end(), name) != kTimes.end(); }

bool is_number(std::string_view name) {
  constexpr std::array<std::string_view, 5> numbers{"event_version", "retry_count", "max_retry_count", "version",
                                                    "deleted"};
  return std::find(numbers.begin(), numbers.end(), name) != numbers.end();
}

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

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

AdoptedTable::AdoptedTable(TableModel model, TableFacts facts, Dialect dialect)
    : model_(std::move(model)), facts_(std::move(facts)), dialect_(dialect) {
  if (facts_.columns.empty()) refuse("there is no such table");
  check_columns();
  find_key();
  check_status();
  check_times();
  find_indexes();
  name_parts();
}

void AdoptedTable::refuse(const std::string& what) const {
  throw StorageError(ErrorCode::schema, name() + ": " + what);
}

const TableFacts::Column* AdoptedTable::column(std::string_view name) const {
  const auto same = [&](const TableFacts::Column& one) { return one.name == name; };
  const auto found = std::find_if(facts_.columns.begin(), facts_.columns.end(), same);
  return found == facts_.columns.end() ? nullptr : &*found;
}

void AdoptedTable::check_columns() const {
  std::vector<std::string> there;
  for (const TableFacts::Column& one : facts_.columns) there.push_back(one.name);
  const auto require = [&](const std::string& use, const std::string& name) {
    if (column(name) != nullptr) return;
    const std::string near = nearest_name(name, there);
    refuse("it has no column '" + name + "' for the " + use + (near.empty() ? "" : "; did you mean '" + near + "'?") +
           " Its columns: " + list_of(there));
  };
  for (const auto& [ours, theirs] : model_.columns) require(ours, theirs);
  if (!model_.order.empty()) require("order", model_.order);
}

void AdoptedTable::find_key() {
  if (has("id"))
    key_ = model_.columns.at("id");
  else if (facts_.primary_key.size() == 1)
    key_ = facts_.primary_key.front();
  else
    refuse("it has no primary key of one column; name a unique column with id = \"…\"");
  const bool primary = facts_.primary_key == std::vector<std::string>{key_};
  const auto same = [&](const TableFacts::Index& one) { return one.unique && one.columns == Values{key_}; };
  const auto index = std::find_if(facts_.indexes.begin(), facts_.indexes.end(), same);
  if (!primary && (index == facts_.indexes.end() || column(key_)->nullable))
    refuse("its column '" + key_ + "' is not unique and NOT NULL, so it can't be the key; make it so, or name another");
  if (index != facts_.indexes.end()) key_index_ = index->name;
  const bool whole_number = contains(column(key_)->type, "int");
  key_is_id_ = whole_number && (model_.order.empty() || model_.order == key_);
}

void AdoptedTable::check_status() const {
  const TableFacts::Column& status = *column(model_.columns.at("publish_status"));
  const bool number = contains(status.type, "int") || contains(status.type, "bool") || contains(status.type, "bit");
  if (number == model_.status.text)
    refuse("its column '" + status.name + "' is of type " + status.type + ", and the status values are " +
           (model_.status.text ? "texts" : "numbers") + "; write them as the table has them");
  if (!status.type.starts_with("enum")) return;
  for (const Values* values : {&model_.status.pending, &model_.status.in_progress, &model_.status.retrying,
                               &model_.status.succeeded, &model_.status.failed, &model_.status.cancelled})
    for (const std::string& value : *values)
      if (!contains(status.type, "'" + value + "'"))
        refuse("its column '" + status.name + "' can't be '" + value + "': it is " + status.type);
}

void AdoptedTable::check_times() const {
  if (dialect_ == Dialect::sqlite) return;  // any type holds a time there
  for (const std::string_view time : kTimes) {
    if (!has(time)) continue;
    const TableFacts::Column& one = *column(model_.columns.at(std::string(time)));
    if (!one.type.starts_with("datetime") && !one.type.starts_with("timestamp"))
      refuse("its column '" + one.name + "' is of type " + one.type + "; a " + std::string(time) +
             " must be DATETIME or TIMESTAMP");
  }
}

// An index that begins with the status finds new rows beside any number of delivered ones; when the order follows, or
// the key as the end of every index does, it also gives them in order.
void AdoptedTable::find_indexes() {
  const std::string& status = model_.columns.at("publish_status");
  const std::string& order = model_.order.empty() ? key_ : model_.order;
  const bool key_ends_indexes = facts_.primary_key == Values{key_};
  for (const TableFacts::Index& index : facts_.indexes) {
    if (index.columns.empty() || index.columns.front() != status) continue;
    const bool in_order = (index.columns.size() > 1 && index.columns[1] == order) ||
                          (index.columns.size() == 1 && order == key_ && key_ends_indexes);
    if (!status_index_.empty() && !in_order) continue;
    status_index_ = index.name;
    well_served_ = in_order;
    if (in_order) return;
  }
}

bool AdoptedTable::shows_claims() const {
  const auto written_at_claim = {"last_publish_time", "locked_by", "lock_until", "version"};
  return !model_.status.in_progress.empty() ||
         std::any_of(written_at_claim.begin(), written_at_claim.end(), [&](const char* one) { return has(one); });
}

bool AdoptedTable::has_unique_number() const {
  if (!has("event_no")) return false;
  const Values number{model_.columns.at("event_no")};
  return facts_.primary_key == number ||
         std::any_of(facts_.indexes.begin(), facts_.indexes.end(),
                     [&](const TableFacts::Index& one) { return one.unique && one.columns == number; });
}

std::optional<std::string> AdoptedTable::number_parameter(std::string_view event_no) const {
  if (has("event_no")) return std::string(event_no);
  const std::string front = model_.table + ":";
  if (!event_no.starts_with(front)) return std::nullopt;
  const std::string_view key = event_no.substr(front.size());
  const bool number = !key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos;
  if (contains(column(key_)->type, "int") && !number) return std::nullopt;
  return std::string(key);
}

std::string AdoptedTable::append_text() const {
  if (!has_unique_number())
    throw StorageError(ErrorCode::invalid, "append: " + name() +
                                               " has no unique column for event_no, so an event could not be told from "
                                               "its repetition; insert rows in your own transaction");
  std::string columns = quoted(model_.columns.at("publish_status"));
  std::string values = first_of({&model_.status.pending});
  for (const std::string& one : words_of(kAppended)) {
    if (!has(one)) continue;
    columns += ", " + quoted(model_.columns.at(one));
    values += ", " + (is_time(one) ? time_for(one, "?") : std::string("?"));
  }
  const bool sqlite = dialect_ == Dialect::sqlite;
  return "INSERT INTO " + quoted(model_.table) + " (" + columns + ") VALUES (" + values + ")" +
         (sqlite ? " ON CONFLICT (" + quoted(model_.columns.at("event_no")) + ") DO NOTHING" : "");
}

std::vector<AdoptedTable::Value> AdoptedTable::appended(const NewEvent& event, Timestamp now) const {
  std::vector<Value> values;
  const auto add = [&](const char* name, Value value) {
    if (has(name)) values.push_back(value);
  };
  const auto add_if_set = [&](const char* name, const auto& field) {
    if (field && !has(name))
      throw InvalidEvent(name, event.event_no + ": " + this->name() + " has no column for " + name + "; leave it out");
    add(name, field ? Value(*field) : Value(nullptr));
  };
  // In the order of kAppended.
  add("event_no", event.event_no);
  add("aggregate_type", event.aggregate_type);
  add("aggregate_id", event.aggregate_id);
  add("event_type", event.event_type);
  add("event_version", std::int64_t{event.event_version});
  add("event_source", event.event_source);
  add("publish_channel", event.publish_channel);
  add_if_set("topic", event.topic);
  add_if_set("routing_key", event.routing_key);
  add("event_payload", event.event_payload);
  add_if_set("event_headers", event.event_headers);
  add_if_set("trace_id", event.trace_id);
  add_if_set("remark", event.remark);
  add("max_retry_count", std::int64_t{event.max_retry_count});
  add_if_set("next_retry_time", event.next_retry_time);
  add("create_time", event.create_time.value_or(now));
  add("update_time", now);
  return values;
}

std::string AdoptedTable::difference(const Event& stored, NewEvent event) const {
  const auto keep = [&](const char* name, auto& field, const auto& other) {
    if (!has(name)) field = other;
  };
  keep("aggregate_type", event.aggregate_type, stored.aggregate_type);
  keep("aggregate_id", event.aggregate_id, stored.aggregate_id);
  keep("event_type", event.event_type, stored.event_type);
  keep("event_version", event.event_version, stored.event_version);
  keep("event_source", event.event_source, stored.event_source);
  keep("publish_channel", event.publish_channel, stored.publish_channel);
  keep("topic", event.topic, stored.topic);
  keep("routing_key", event.routing_key, stored.routing_key);
  keep("event_headers", event.event_headers, stored.event_headers);
  return content_difference(stored, event);
}

std::string AdoptedTable::finished_time() const {
  for (const char* time : {"update_time", "published_time", "last_publish_time", "create_time"})
    if (has(time)) return time_of(time);
  return {};
}

void AdoptedTable::require_served(const TableModel& model, const std::optional<std::string>& served) {
  if (!served)
    throw StorageError(ErrorCode::schema, "table '" + model.table + "' has no " + model.delivery_table +
                                              " beside it; create it with `waybill init`");
  if (*served != model.table)
    throw StorageError(ErrorCode::schema, "table '" + model.table + "': " + model.delivery_table +
                                              " belongs to table '" + *served +
                                              "'; give this one a delivery_table of another name");
}

void AdoptedTable::refuse_status(std::string_view value) const {
  refuse("there are rows with status '" + std::string(value) +
         "', which means nothing to waybill; say in [table.status] what it means");
}

void AdoptedTable::require_finished_time() const {
  if (finished_time().empty())
    throw StorageError(ErrorCode::invalid, "purge: " + name() +
                                               " has no column that says when a row was finished; map update_time or "
                                               "published_time, or remove old rows yourself");
}

void AdoptedTable::refuse_archive() const {
  throw StorageError(ErrorCode::invalid,
                     "archive: " + name() + " has no archive; `waybill purge` removes its old finished rows");
}

std::string AdoptedTable::note_sql(const TableModel& model) {
  return "INSERT INTO waybill_note (name, value)\nVALUES ('" + note_of(model) + "', '" + model.table + "')";
}

// --- pieces of SQL

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
      "(SELECT %v FROM {source} AS t WHERE {key} = {delivery}.{key_column} AND {live} AND {visible})";
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

std::vector<Finding> AdoptedTable::findings() const {
  using Level = Finding::Level;
  const std::string status = model_.columns.at("publish_status");
  const std::string order = model_.order.empty() ? key_ : model_.order;
  // SQLite has one name space for all tables' indexes.
  const std::string index = "idx_waybill" + (dialect_ == Dialect::sqlite ? "_" + model_.table : std::string{});
  const std::string create =
      "CREATE INDEX " + index + " ON " + quoted(model_.table) + " (" + quoted(status) + ", " + quoted(order) + ")";
  std::vector<Finding> findings;
  if (status_index_.empty())
    findings.push_back(
        {Level::warning, "claim-index",
         name() + " has no index that begins with " + status + ": each search for new rows reads the whole table",
         create});
  else
    findings.push_back({Level::ok,
                        "claim-index",
                        status_index_ + " finds new rows" + (well_served_ ? ", in order" : ", which are then sorted"),
                        {}});
  if (!key_is_id_ && model_.order.empty())
    findings.push_back(
        {Level::warning, "order",
         name() + " has no column that says in which order events happened: its key is " + column(key_)->type,
         "name one with order = \"…\", or do not rely on --order aggregate"});
  return findings;
}

}  // namespace waybill::backends
