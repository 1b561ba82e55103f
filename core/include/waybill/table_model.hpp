#pragma once
// What an outbox table that is already there looks like, so that waybill can deliver from it (DESIGN §6: adopted).

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/event.hpp"

namespace waybill {

/// The values of the table's status column, in words of ours. The first of each is what waybill writes, all are
/// understood. Only `pending` and `succeeded` are needed; what the table has no value for is kept in the delivery
/// table, and the row stays as it is.
struct StatusValues {
  std::vector<std::string> pending;
  std::vector<std::string> in_progress;
  std::vector<std::string> retrying;  ///< failed, and tried again; none: the row goes back to pending
  std::vector<std::string> succeeded;
  std::vector<std::string> failed;  ///< dead
  std::vector<std::string> cancelled;
  bool text{false};  ///< 'PENDING'; else whole numbers

  bool operator==(const StatusValues&) const = default;
};

/// An adopted table. It is never altered; what it lacks (lease, retry time, reason, …) lives in `delivery_table`, one
/// row for each event that is not finished.
///
/// Events come in the order of `order`, or else of the key. With a whole-number key and no `order` an event's id is its
/// key; otherwise it is given when waybill first sees the row.
struct TableModel {
  std::string table;
  std::string delivery_table{"waybill_delivery"};
  /// Name of a column of biz_outbox_event -> the table's own. `event_payload` and `publish_status` are needed; `id` is
  /// the key, by default the table's primary key. Mapped columns of the delivery state (retry_count, next_retry_time,
  /// fail_reason, …) are written as the event moves.
  std::map<std::string, std::string> columns;
  /// Name of a column of biz_outbox_event that the table lacks -> its value for every event. Without one: event_no
  /// `TABLE:KEY`, aggregate_type, event_type and event_source the table's name, aggregate_id the key.
  std::map<std::string, std::string> constants;
  StatusValues status;
  std::string filter;     ///< a further condition in the database's SQL; the table is `t`: `t.tenant = 'eu'`
  std::string time_zone;  ///< MySQL: of its DATETIME columns, `+08:00`; empty: the server's. TIMESTAMP needs none
  std::string order;      ///< a column whose values rise as events happen; empty: the key

  bool operator==(const TableModel&) const = default;
};

/// The tables that waybill knows by name: `biz_message_event` (seed 000), `domain_event_outbox` (seed 003) and the
/// local message table `outbox` (seed 004). nullptr: another name.
[[nodiscard]] const TableModel* known_table(std::string_view name) noexcept;
/// The table that a store's URL asks for by `table=NAME`: the one described (by a configuration file), or one known by
/// name. Without a name the described one, if there is one. nullopt: biz_outbox_event, waybill's own. Throws
/// ConfigError.
[[nodiscard]] std::optional<TableModel> chosen_table(std::string_view name, const std::optional<TableModel>& described);
/// The columns of biz_outbox_event that a model may name, for messages.
[[nodiscard]] const std::vector<std::string>& model_columns();
/// Throws ConfigError: a name that is none, a column that is needed and missing, a status value that can't be.
void require_valid(const TableModel& model);

}  // namespace waybill
