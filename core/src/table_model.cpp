#include "waybill/table_model.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "waybill/error.hpp"
#include "waybill/options.hpp"

namespace waybill {
namespace {

/// Columns that have the same name on both sides.
std::map<std::string, std::string> with_own_names(std::initializer_list<const char*> same,
                                                  std::map<std::string, std::string> others) {
  for (const char* name : same) others.emplace(name, name);
  return others;
}

TableModel message_table() {
  TableModel model;
  model.table = "biz_message_event";
  model.delivery_table = "waybill_message_delivery";
  model.columns = with_own_names(
      {"id", "event_no", "event_type", "event_source", "event_payload", "retry_count", "max_retry_count",
       "next_retry_time", "fail_reason", "trace_id", "remark", "version", "deleted", "create_time", "update_time"},
      {{"aggregate_type", "biz_type"},
       {"aggregate_id", "biz_id"},
       {"publish_status", "event_status"},
       {"last_publish_time", "last_handle_time"},
       {"published_time", "success_time"}});
  model.constants = {{"publish_channel", "EVENT_BUS"}};
  model.time_zone = "+00:00";  // as biz_outbox_event
  model.status = {{"0"}, {"1"}, {"3"}, {"2"}, {"3"}, {"4"}, false};
  return model;
}

TableModel domain_event_table() {
  TableModel model;
  model.table = "domain_event_outbox";
  model.columns = with_own_names({"aggregate_type", "aggregate_id"}, {{"event_no", "event_id"},
                                                                      {"event_type", "event_name"},
                                                                      {"event_payload", "payload"},
                                                                      {"publish_status", "status"}});
  model.status = {{"0"}, {}, {}, {"1"}, {}, {}, false};
  return model;
}

TableModel local_message_table() {
  TableModel model;
  model.table = "outbox";
  model.columns = with_own_names({"id", "retry_count", "create_time", "update_time"}, {{"aggregate_id", "business_id"},
                                                                                       {"event_type", "message_type"},
                                                                                       {"event_payload", "payload"},
                                                                                       {"publish_status", "status"}});
  model.constants = {{"max_retry_count", "3"}};  // the seed's sender gives up at the third failure
  model.status = {{"PENDING"}, {}, {}, {"SENT"}, {"FAILED"}, {}, true};
  return model;
}

const std::array<TableModel, 3>& known_tables() {
  static const std::array<TableModel, 3> tables{message_table(), domain_event_table(), local_message_table()};
  return tables;
}

bool is_identifier(std::string_view text) {
  const auto ok = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), ok);
}

void require_identifier(const std::string& what, std::string_view name) {
  if (is_identifier(name)) return;
  throw ConfigError(what + ": '" + std::string(name) +
                    "' can't be the name of a table or column; letters, digits, '_' and '$' may be in it, 64 at most");
}

void require_known(const std::string& where, const std::string& name) {
  const auto& names = model_columns();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string near = nearest_name(name, names);
  throw ConfigError(where + ": '" + name + "' is no column of biz_outbox_event" +
                    (near.empty() ? std::string{} : "; did you mean '" + near + "'?"));
}

bool is_number(const std::string& text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && text.size() < 12 && text.find_first_not_of("0123456789", sign) == std::string::npos;
}

/// A status that is a text is written into statements: no character that could end it.
bool is_plain(const std::string& text) {
  return text.size() <= 64 && text.find_first_of("'\"\\`{}?") == std::string::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

void require_status_values(const std::string& where, const StatusValues& status) {
  if (status.pending.empty() || status.succeeded.empty())
    throw ConfigError(where + ": status: say which values mean pending and succeeded");
  std::set<std::string> finished(status.succeeded.begin(), status.succeeded.end());
  finished.insert(status.cancelled.begin(), status.cancelled.end());
  for (const auto* values :
       {&status.pending, &status.in_progress, &status.retrying, &status.succeeded, &status.failed, &status.cancelled}) {
    const bool unfinished = values != &status.succeeded && values != &status.cancelled;
    for (const std::string& value : *values) {
      if (status.text ? !is_plain(value) : !is_number(value))
        throw ConfigError(where + ": status: '" + value + "' is no value that waybill can compare with");
      if (unfinished && finished.count(value) != 0)
        throw ConfigError(where + ": status: '" + value + "' means finished and unfinished at once");
    }
  }
}

}  // namespace

const TableModel* known_table(std::string_view name) noexcept {
  const auto& tables = known_tables();
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const TableModel& one) { return one.table == name; });
  return found == tables.end() ? nullptr : &*found;
}

std::optional<TableModel> chosen_table(std::string_view name, const std::optional<TableModel>& described) {
  if (described && (name.empty() || name == described->table)) {
    require_valid(*described);
    return described;
  }
  if (name.empty() || name == "biz_outbox_event") return std::nullopt;
  if (const TableModel* known = known_table(name)) return *known;
  std::string names;
  for (const TableModel& one : known_tables()) names += ", " + one.table;
  throw ConfigError("table=" + std::string(name) + ": waybill knows biz_outbox_event" + names +
                    "; describe any other in the [table] section of a file and say --config FILE");
}

const std::vector<std::string>& model_columns() {
  static const std::vector<std::string> names{"id",
                                              "event_no",
                                              "aggregate_type",
                                              "aggregate_id",
                                              "event_type",
                                              "event_version",
                                              "event_source",
                                              "publish_channel",
                                              "topic",
                                              "routing_key",
                                              "event_payload",
                                              "event_headers",
                                              "publish_status",
                                              "retry_count",
                                              "max_retry_count",
                                              "next_retry_time",
                                              "locked_by",
                                              "lock_until",
                                              "last_publish_time",
                                              "published_time",
                                              "fail_reason",
                                              "trace_id",
                                              "remark",
                                              "version",
                                              "deleted",
                                              "create_time",
                                              "update_time"};
  return names;
}

void require_valid(const TableModel& model) {
  const std::string where = "table '" + model.table + "'";
  require_identifier(where, model.table);
  require_identifier(where + ", delivery_table", model.delivery_table);
  for (const auto& [name, column] : model.columns) {
    require_known(where, name);
    require_identifier(where + ", " + name, column);
  }
  for (const auto& [name, value] : model.constants) {
    require_known(where, name);
    if (model.columns.count(name) != 0)
      throw ConfigError(where + ": " + name + " is both a column and a constant; leave one out");
    if (!is_plain(value)) throw ConfigError(where + ": the constant " + name + " has a character that can't be in it");
  }
  for (const char* needed : {"event_payload", "publish_status"})
    if (model.columns.count(needed) == 0)
      throw ConfigError(where + ": say which column is the " + needed + ", as in " + needed + " = \"payload\"");
  if (!model.order.empty()) require_identifier(where + ", order", model.order);
  if (model.time_zone.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_+-:") !=
      std::string::npos)
    throw ConfigError(where + ": time_zone: '" + model.time_zone + "' is none; write it like +08:00");
  if (model.filter.find_first_of("{}?") != std::string::npos)
    throw ConfigError(where + ": filter: no braces or question marks, please");
  require_status_values(where, model.status);
}

}  // namespace waybill
