#pragma once
// SQL texts with the lifecycle filled in, so that no guard is written by hand.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace waybill::backends {

/// The columns of biz_outbox_event in the order in which rows are read.
inline constexpr std::string_view kEventColumns =
    "id, event_no, aggregate_type, aggregate_id, event_type, event_version, event_source, publish_channel, topic, "
    "routing_key, event_payload, event_headers, publish_status, retry_count, max_retry_count, next_retry_time, "
    "locked_by, lock_until, last_publish_time, published_time, fail_reason, trace_id, remark, version, deleted, "
    "create_time, update_time";

using Substitution = std::pair<std::string_view, std::string_view>;

/// Replaces `{name}`: `{columns}`, `{dead}`, `{pending}` and the other statuses, `{from:COMMAND}` (the guard) and
/// `{to:COMMAND}` (the status number), and what `extra` names. Aborts on an unknown name: the texts are ours.
[[nodiscard]] std::string render_sql(std::string_view text, std::span<const Substitution> extra);
[[nodiscard]] std::string render_sql(std::string_view text, std::initializer_list<Substitution> extra = {});

/// Where the texts, which are written for biz_outbox_event, find their rows.
struct TableTexts {
  std::string table{"biz_outbox_event"};
  std::string columns{kEventColumns};

  /// A query in the table's place: "(SELECT …) AS event".
  [[nodiscard]] bool is_view() const { return table.starts_with('('); }
  /// render_sql(), then on this table: its name, and its indexes' where their names are the database's (idx_outbox_…).
  [[nodiscard]] std::string render(std::string_view text, std::initializer_list<Substitution> extra = {}) const;
};

}  // namespace waybill::backends
