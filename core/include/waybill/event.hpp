#pragma once
// The event as a value. Field names are the column names of `biz_outbox_event` (seed 000, "Outbox事件表模型").

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "waybill/time.hpp"

namespace waybill {

/// Numbers are those of the column `publish_status`.
enum class Status : std::uint8_t { pending = 0, in_progress = 1, succeeded = 2, failed = 3, cancelled = 4 };

inline constexpr std::array<Status, 5> kAllStatuses{Status::pending, Status::in_progress, Status::succeeded,
                                                    Status::failed, Status::cancelled};

/// `pending`, `in_progress`, `succeeded`, `failed`, `cancelled`.
[[nodiscard]] std::string_view to_string(Status status) noexcept;
[[nodiscard]] std::optional<Status> parse_status(std::string_view text) noexcept;

/// What a producer says about an event; never changed by delivery. Limits of each field: limits.hpp.
struct EventContent {
  std::string event_no;        ///< caller-chosen, unique: the idempotency key end to end
  std::string aggregate_type;  ///< with `aggregate_id` the ordering key
  std::string aggregate_id;
  std::string event_type;
  std::int32_t event_version{1};
  std::string event_source{"waybill"};
  std::string publish_channel{"MQ"};
  std::optional<std::string> topic;
  std::optional<std::string> routing_key;
  std::string event_payload;                 ///< JSON text, any kind of value
  std::optional<std::string> event_headers;  ///< JSON object
  std::optional<std::string> trace_id;
  std::optional<std::string> remark;

  bool operator==(const EventContent&) const = default;
};

/// An event to append. The store gives the id.
struct NewEvent : EventContent {
  std::int32_t max_retry_count{5};           ///< failed attempts allowed; 0: the first failure is final
  std::optional<Timestamp> next_retry_time;  ///< not delivered before; nullopt: at once
  std::optional<Timestamp> create_time;      ///< when it happened; nullopt: the store's now. Says nothing about order

  bool operator==(const NewEvent&) const = default;
};

/// Where an event is in its life; changed only by the commands of lifecycle.hpp.
struct DeliveryState {
  Status publish_status{Status::pending};
  std::int32_t retry_count{0};
  std::int32_t max_retry_count{5};
  std::int32_t version{0};  ///< the fencing token: one more at each claim
  std::optional<Timestamp> next_retry_time;
  std::optional<std::string> locked_by;
  std::optional<Timestamp> lock_until;
  std::optional<Timestamp> last_publish_time;
  std::optional<Timestamp> published_time;
  std::optional<std::string> fail_reason;

  bool operator==(const DeliveryState&) const = default;
};

/// One row. Order within an aggregate is by `id`, never by time.
struct Event : EventContent, DeliveryState {
  std::int64_t id{0};
  bool deleted{false};
  bool archived{false};  ///< found in the archive table; not a column
  Timestamp create_time{};
  Timestamp update_time{};

  bool operator==(const Event&) const = default;
};

/// Proof of a claim: who holds which version of which event.
struct Token {
  std::int64_t id{0};
  std::int32_t version{0};
  std::string owner;

  bool operator==(const Token&) const = default;
};

[[nodiscard]] inline Token token_of(const Event& event) {
  return Token{event.id, event.version, event.locked_by.value_or("")};
}

/// Same aggregate, so same ordering key.
[[nodiscard]] inline bool same_aggregate(const EventContent& a, const EventContent& b) noexcept {
  return a.aggregate_id == b.aggregate_id && a.aggregate_type == b.aggregate_type;
}

/// True when both say the same thing: all fields but trace_id and remark, JSON compared as JSON, and
/// `traceparent`/`tracestate` in the headers left out (a repeated call has its own trace).
/// `difference` names the first field that differs, or is empty.
[[nodiscard]] std::string content_difference(const EventContent& a, const EventContent& b);

}  // namespace waybill
