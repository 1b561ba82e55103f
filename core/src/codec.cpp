#include "waybill/codec.hpp"

#include <simdjson.h>

#include <array>
#include <bitset>
#include <charconv>
#include <vector>

#include "json_object.hpp"
#include "utf8.hpp"
#include "waybill/limits.hpp"
#include "waybill/options.hpp"

namespace waybill {
namespace {

/// Builds nothing; only counts levels. The hot path of every append.
struct Validator {
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  int depth{0};

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t) { return true; }
  bool number_unsigned(number_unsigned_t) { return true; }
  bool number_float(number_float_t, const string_t&) { return true; }
  bool string(string_t&) { return true; }
  bool binary(binary_t&) { return false; }
  bool key(string_t&) { return true; }
  bool start_object(std::size_t) { return ++depth <= kMaxJsonDepth; }
  bool start_array(std::size_t) { return ++depth <= kMaxJsonDepth; }
  bool end_object() { return --depth, true; }
  bool end_array() { return --depth, true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }
};

[[noreturn]] void refuse(const std::string& key, const std::string& what) {
  throw InvalidEvent(key, key + ": " + what);
}

void require_kind(const JsonMember& member, JsonKind kind, const char* wanted) {
  if (member.kind != kind) refuse(member.key, std::string{"must be "} + wanted);
}

const std::string& text_of(const JsonMember& member) {
  require_kind(member, JsonKind::string, "a string");
  return member.text;
}

/// Ids often are numbers where they come from; their digits are kept as written.
std::string id_of(const JsonMember& member) {
  if (member.kind == JsonKind::integer) return std::string{member.raw};
  require_kind(member, JsonKind::string, "a string or a whole number");
  return member.text;
}

std::int32_t int_of(const JsonMember& member) {
  std::int32_t value = 0;
  const char* end = member.raw.data() + member.raw.size();
  const auto [stop, error] = std::from_chars(member.raw.data(), end, value);
  if (member.kind != JsonKind::integer || error != std::errc{} || stop != end)
    refuse(member.key, "must be a whole number of 32 bits");
  return value;
}

Timestamp time_of(const JsonMember& member) {
  const std::optional<Timestamp> time =
      member.kind == JsonKind::string ? parse_time(member.text) : std::optional<Timestamp>{};
  if (!time.has_value()) refuse(member.key, "must be an RFC 3339 time, for example 2026-11-30T17:38:00Z");
  return *time;
}

std::string headers_of(const JsonMember& member) {
  require_kind(member, JsonKind::object, "an object or null");
  return std::string{member.raw};
}

void check_zero(const JsonMember& member) {
  if (member.kind != JsonKind::integer || member.raw != "0")
    refuse(member.key, "belongs to delivery; leave it out (only 0 is accepted)");
}

void check_null(const JsonMember& member) {
  refuse(member.key, "belongs to delivery; leave it out (only null is accepted)");
}

/// The store gives id and update_time; the keys are known so that a listed event can be put again.
void check_id(const JsonMember& member) {
  const std::string digits = id_of(member);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    refuse(member.key, "must be a whole number, or left out: the store gives it");
}

struct Column {
  std::string_view name;
  bool required;
  void (*read)(const JsonMember&, NewEvent&);
};

/// The columns of the table, in its order.
constexpr std::array<Column, 27> kColumns{{
    {"id", false, [](const JsonMember& m, NewEvent&) { check_id(m); }},
    {"event_no", true, [](const JsonMember& m, NewEvent& e) { e.event_no = id_of(m); }},
    {"aggregate_type", true, [](const JsonMember& m, NewEvent& e) { e.aggregate_type = text_of(m); }},
    {"aggregate_id", true, [](const JsonMember& m, NewEvent& e) { e.aggregate_id = id_of(m); }},
    {"event_type", true, [](const JsonMember& m, NewEvent& e) { e.event_type = text_of(m); }},
    {"event_version", false, [](const JsonMember& m, NewEvent& e) { e.event_version = int_of(m); }},
    {"event_source", false, [](const JsonMember& m, NewEvent& e) { e.event_source = text_of(m); }},
    {"publish_channel", false, [](const JsonMember& m, NewEvent& e) { e.publish_channel = text_of(m); }},
    {"topic", false, [](const JsonMember& m, NewEvent& e) { e.topic = text_of(m); }},
    {"routing_key", false, [](const JsonMember& m, NewEvent& e) { e.routing_key = text_of(m); }},
    {"event_payload", true, [](const JsonMember& m, NewEvent& e) { e.event_payload = m.raw; }},
    {"event_headers", false, [](const JsonMember& m, NewEvent& e) { e.event_headers = headers_of(m); }},
    {"publish_status", false, [](const JsonMember& m, NewEvent&) { check_zero(m); }},
    {"retry_count", false, [](const JsonMember& m, NewEvent&) { check_zero(m); }},
    {"max_retry_count", false, [](const JsonMember& m, NewEvent& e) { e.max_retry_count = int_of(m); }},
    {"next_retry_time", false, [](const JsonMember& m, NewEvent& e) { e.next_retry_time = time_of(m); }},
    {"locked_by", false, [](const JsonMember& m, NewEvent&) { check_null(m); }},
    {"lock_until", false, [](const JsonMember& m, NewEvent&) { check_null(m); }},
    {"last_publish_time", false, [](const JsonMember& m, NewEvent&) { check_null(m); }},
    {"published_time", false, [](const JsonMember& m, NewEvent&) { check_null(m); }},
    {"fail_reason", false, [](const JsonMember& m, NewEvent&) { check_null(m); }},
    {"trace_id", false, [](const JsonMember& m, NewEvent& e) { e.trace_id = id_of(m); }},
    {"remark", false, [](const JsonMember& m, NewEvent& e) { e.remark = text_of(m); }},
    {"version", false, [](const JsonMember& m, NewEvent&) { check_zero(m); }},
    {"deleted", false, [](const JsonMember& m, NewEvent&) { check_zero(m); }},
    {"create_time", false, [](const JsonMember& m, NewEvent& e) { e.create_time = time_of(m); }},
    {"update_time", false, [](const JsonMember& m, NewEvent&) { (void)time_of(m); }},
}};

[[noreturn]] void unknown_key(const std::string& key) {
  std::vector<std::string> names;
  for (const Column& column : kColumns) names.emplace_back(column.name);
  const std::string near = nearest_name(key, names);
  const std::string shown = utf8::for_message(key);
  throw InvalidEvent(
      shown, "unknown key '" + shown + "'" +
                 (near.empty() ? "; keys are the columns of biz_outbox_event" : "; did you mean '" + near + "'?"));
}

std::size_t column_of(const std::string& key) {
  for (std::size_t column = 0; column < kColumns.size(); ++column)
    if (kColumns[column].name == key) return column;
  unknown_key(key);
}

/// Null means "not set", but a payload may well be null.
bool is_given(const JsonMember& member) { return member.kind != JsonKind::null || member.key == "event_payload"; }

std::string time_text(const std::optional<Timestamp>& time) {
  return time.has_value() ? "\"" + format_time(*time) + "\"" : "null";
}

/// A foreign writer's column may hold anything; what is not JSON is shown as a string.
void json_or_text(JsonLine& line, std::string_view key, const std::string& value) {
  is_valid_json(value) ? line.json(key, value) : line.text(key, value);
}

/// The fast answer for nearly every payload: simdjson takes a tenth of the other parser's time, which was a fifth of a
/// whole cycle. It is stricter (integers beyond 64 bits) and shallower here, so that only its yes counts. Big texts
/// would make its buffers grow for good.
bool is_plainly_valid(std::string_view text) {
  constexpr std::size_t kLargest = 64U << 10;
  constexpr std::size_t kDepth = 64;
  if (text.size() > kLargest) return false;
  thread_local simdjson::dom::parser parser;
  if (parser.max_depth() != kDepth && parser.allocate(4096, kDepth) != simdjson::SUCCESS) return false;
  simdjson::dom::element ignored;
  return parser.parse(text.data(), text.size(), true).get(ignored) == simdjson::SUCCESS;
}

}  // namespace

bool is_valid_json(std::string_view text) {
  // The parsers skip a byte-order mark, and one takes a NUL for the end of the text.
  if (text.substr(0, 3) == "\xEF\xBB\xBF" || text.find('\0') != std::string_view::npos) return false;
  if (is_plainly_valid(text)) return true;
  Validator validator;
  return nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &validator);
}

bool is_json_object(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  return first != std::string_view::npos && text[first] == '{' && is_valid_json(text);
}

bool json_equal(std::string_view a, std::string_view b) {
  // Checked first, so that no foreign text can nest deeper than the comparison may recurse.
  if (!is_valid_json(a) || !is_valid_json(b)) return false;
  return nlohmann::json::parse(a) == nlohmann::json::parse(b);
}

NewEvent parse_event(std::string_view line) {
  std::vector<JsonMember> members;
  if (const auto error = read_members(line, members)) throw InvalidEvent(error->key, error->message);
  NewEvent event;
  std::bitset<kColumns.size()> given;
  for (const JsonMember& member : members) {
    const std::size_t column = column_of(member.key);
    if (!is_given(member)) continue;
    kColumns[column].read(member, event);
    given.set(column);
  }
  for (std::size_t column = 0; column < kColumns.size(); ++column)
    if (kColumns[column].required && !given[column]) refuse(std::string{kColumns[column].name}, "is required");
  return event;
}

std::string to_json(const Event& event, bool with_payload) {
  JsonLine line{JsonLine::OnBadUtf8::replace, 900 + event.event_payload.size()};
  line.text("id", std::to_string(event.id));
  line.text("event_no", event.event_no);
  line.text("aggregate_type", event.aggregate_type);
  line.text("aggregate_id", event.aggregate_id);
  line.text("event_type", event.event_type);
  line.number("event_version", event.event_version);
  line.text("event_source", event.event_source);
  line.text("publish_channel", event.publish_channel);
  line.text_or_null("topic", event.topic);
  line.text_or_null("routing_key", event.routing_key);
  if (with_payload) json_or_text(line, "event_payload", event.event_payload);
  if (event.event_headers.has_value())
    json_or_text(line, "event_headers", *event.event_headers);
  else
    line.raw("event_headers", "null");
  line.number("publish_status", static_cast<int>(event.publish_status));
  line.number("retry_count", event.retry_count);
  line.number("max_retry_count", event.max_retry_count);
  line.raw("next_retry_time", time_text(event.next_retry_time));
  line.text_or_null("locked_by", event.locked_by);
  line.raw("lock_until", time_text(event.lock_until));
  line.raw("last_publish_time", time_text(event.last_publish_time));
  line.raw("published_time", time_text(event.published_time));
  line.text_or_null("fail_reason", event.fail_reason);
  line.text_or_null("trace_id", event.trace_id);
  line.text_or_null("remark", event.remark);
  line.number("version", event.version);
  line.number("deleted", event.deleted ? 1 : 0);
  line.raw("create_time", time_text(event.create_time));
  line.raw("update_time", time_text(event.update_time));
  return std::move(line).finish();
}

std::string to_payload_line(const Event& event) {
  if (!is_valid_json(event.event_payload))
    throw InvalidEvent("event_payload",
                       "event_payload of '" + utf8::for_message(event.event_no) + "' is not valid JSON");
  return on_one_line(event.event_payload);
}

}  // namespace waybill
