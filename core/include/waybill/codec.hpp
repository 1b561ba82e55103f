#pragma once
// Events as JSON text: one object a line in, one object a line out.

#include <optional>
#include <string>
#include <string_view>

#include "waybill/error.hpp"
#include "waybill/event.hpp"

namespace waybill {

/// Valid JSON by RFC 8259: UTF-8, no byte-order mark, at most kMaxJsonDepth levels, numbers within double's range.
[[nodiscard]] bool is_valid_json(std::string_view text);
/// Valid JSON, and an object.
[[nodiscard]] bool is_json_object(std::string_view text);
/// Equal as JSON values (key order and white space do not matter). Both must be valid.
[[nodiscard]] bool json_equal(std::string_view a, std::string_view b);

/// One line of `put`: a JSON object whose keys are columns of `biz_outbox_event`; `event_payload` may be any JSON
/// value, `event_headers` an object or null; times RFC 3339. event_no, aggregate_type, aggregate_id, event_type and
/// event_payload are required. Columns of delivery are refused unless they say "new" (publish_status 0, retry_count 0).
/// Throws InvalidEvent naming the key. Limits are not checked here.
[[nodiscard]] NewEvent parse_event(std::string_view line);
/// A CloudEvents 1.0 structured-mode object: id -> event_no, source -> event_source, type -> event_type, subject ->
/// "type/id" of the aggregate, time -> create_time, data -> event_payload; other attributes become headers.
[[nodiscard]] NewEvent parse_cloudevent(std::string_view line);

/// All columns, in the table's order; id as a string, times RFC 3339, payload and headers as JSON. No line feed.
[[nodiscard]] std::string to_json(const Event& event, bool with_payload = true);
/// CloudEvents 1.0 structured mode: id = event number, source, type, subject = aggregate_type/aggregate_id, time =
/// create_time, datacontenttype, data; extensions aggregatetype, aggregateid, eventversion, topic, routingkey, traceid,
/// and traceparent/tracestate out of the headers. No line feed.
[[nodiscard]] std::string to_cloudevent(const Event& event);
/// The payload on one line.
[[nodiscard]] std::string to_payload_line(const Event& event);

}  // namespace waybill
