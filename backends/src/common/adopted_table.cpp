#include "common/adopted_table.hpp"

#include <algorithm>
#include <array>

#include "common/adopted_columns.hpp"
#include "waybill/error.hpp"
#include "waybill/options.hpp"

namespace waybill::backends {
namespace {

using Values = std::vector<std::string>;

/// What an event need not say: where the table has no column for it, it must not.
constexpr std::array<std::string_view, 6> kLeftOut{"topic",    "routing_key", "event_headers",
                                                   "trace_id", "remark",      "next_retry_time"};

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

/// What an appended event says of itself, by column.
std::vector<std::pair<std::string_view, AdoptedTable::Value>> AdoptedTable::fields_of(const NewEvent& event,
                                                                                      Timestamp now) {
  const auto optional = [](const auto& field) { return field ? Value(*field) : Value(nullptr); };
  return {{"event_no", event.event_no},
          {"aggregate_type", event.aggregate_type},
          {"aggregate_id", event.aggregate_id},
          {"event_type", event.event_type},
          {"event_version", std::int64_t{event.event_version}},
          {"event_source", event.event_source},
          {"publish_channel", event.publish_channel},
          {"topic", optional(event.topic)},
          {"routing_key", optional(event.routing_key)},
          {"event_payload", event.event_payload},
          {"event_headers", optional(event.event_headers)},
          {"trace_id", optional(event.trace_id)},
          {"remark", optional(event.remark)},
          {"max_retry_count", std::int64_t{event.max_retry_count}},
          {"next_retry_time", optional(event.next_retry_time)},
          {"create_time", event.create_time.value_or(now)},
          {"update_time", now}};
}

std::vector<AdoptedTable::Value> AdoptedTable::appended(const NewEvent& event, Timestamp now) const {
  std::vector<Value> values;
  for (auto& [column, value] : fields_of(event, now)) {
    if (has(column)) values.push_back(value);
    const bool may_be_left_out = std::find(kLeftOut.begin(), kLeftOut.end(), column) != kLeftOut.end();
    if (!has(column) && may_be_left_out && !std::holds_alternative<std::nullptr_t>(value))
      throw InvalidEvent(std::string(column), event.event_no + ": " + name() + " has no column for " +
                                                  std::string(column) + "; leave it out");
  }
  return values;
}

AppendResult AdoptedTable::judged(bool inserted, const std::optional<Event>& stored, const NewEvent& event) const {
  if (!stored) throw StorageError(ErrorCode::invalid, event.event_no + ": the row can't be read; is it filtered out?");
  if (inserted) return {AppendStatus::inserted, stored->id, {}};
  std::string difference = this->difference(*stored, event);
  const AppendStatus status = difference.empty() ? AppendStatus::duplicate : AppendStatus::conflict;
  return {status, stored->id, std::move(difference)};
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
    throw StorageError(ErrorCode::invalid, name() +
                                               " has no column that says when a row was finished; map update_time or "
                                               "published_time, or remove old rows yourself");
}

void AdoptedTable::refuse_rollup() const {
  throw StorageError(ErrorCode::invalid,
                     "the daily counts are those of biz_outbox_event; `waybill stats` counts " + name());
}

void AdoptedTable::refuse_archive() const {
  throw StorageError(ErrorCode::invalid, name() + " has no archive; `waybill purge` removes its old finished rows");
}

std::string AdoptedTable::note_sql(const TableModel& model) {
  return "INSERT INTO waybill_note (name, value)\nVALUES ('" + note_of(model) + "', '" + model.table + "')";
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
