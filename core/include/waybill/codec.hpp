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
/// Equal as JSON values (key order, white space and the form of numbers do not matter; integers of more than 64 bits
/// are compared as doubles, as MySQL keeps them). False when either is not valid.
[[nodiscard]] bool json_equal(std::string_view a, std::string_view b);

/// One line of `put`: a JSON object whose keys are columns of `biz_outbox_event`; `event_payload` may be any JSON
/// value, `event_headers` an object or null; times RFC 3339. event_no, aggregate_type, aggregate_id, event_type and
/// event_payload are required. Columns of delivery are refused unless they say "new" (publish_status 0, retry_count 0).
/// The payload keeps the text it has in the line, so numbers of any length and form stay as they are. event_no,
/// aggregate_id and trace_id may also be whole numbers. id and update_time are the store's: checked, not used.
/// Throws InvalidEvent naming the key (none for a line that is no JSON object). Limits are not checked here.
[[nodiscard]] NewEvent parse_event(std::string_view line);
/// A CloudEvents 1.0 structured-mode object: id -> event_no, source -> event_source, type -> event_type, subject ->
/// "type/id" of the aggregate (unless aggregatetype and aggregateid are there), time -> create_time, data ->
/// event_payload (null when missing), the other extensions of to_cloudevent() back to their columns; all else becomes
/// headers. Throws as parse_event().
[[nodiscard]] NewEvent parse_cloudevent(std::string_view line);

/// All columns, in the table's order; id as a string, times RFC 3339, payload and headers as JSON (as a string when a
/// foreign writer put something else there). No line feed. Never throws for what the event holds.
[[nodiscard]] std::string to_json(const Event& event, bool with_payload = true);
/// CloudEvents 1.0 structured mode: id = event number, source, type, subject = aggregate_type/aggregate_id, time =
/// create_time, datacontenttype, data; extensions aggregatetype, aggregateid, eventversion, topic, routingkey, traceid,
/// and traceparent/tracestate out of the headers. A source that is no URI-reference is percent-encoded and kept as it
/// was in the extension eventsource. The payload's text is not changed, but for line feeds and tabs between its values.
/// Throws InvalidEvent when number, source or type is empty, a text is not UTF-8 or the payload not JSON. No line feed.
[[nodiscard]] std::string to_cloudevent(const Event& event);
/// The payload on one line. Throws InvalidEvent when it is not JSON.
[[nodiscard]] std::string to_payload_line(const Event& event);

}  // namespace waybill
