// CloudEvents 1.0, JSON format, structured mode (https://github.com/cloudevents/spec, v1.0.2).

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "json_object.hpp"
#include "utf8.hpp"
#include "waybill/codec.hpp"
#include "waybill/limits.hpp"

namespace waybill {
namespace {

constexpr std::string_view kJsonType = "application/json";

[[noreturn]] void refuse(const std::string& attribute, const std::string& what) {
  throw InvalidEvent(attribute, attribute + ": " + what);
}

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alnum(char c) { return is_alpha(c) || (c >= '0' && c <= '9'); }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

void put_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
}

/// How many characters in front hold no colon but a scheme's: there, RFC 3986 allows none.
std::size_t colon_free_prefix(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view scheme = text.substr(0, text.find(':'));
  const bool is_scheme =
      !scheme.empty() && is_alpha(scheme.front()) &&
      std::all_of(scheme.begin(), scheme.end(), [](char c) { return is_alnum(c) || c == '+' || c == '.' || c == '-'; });
  return is_scheme ? 0 : end;
}

/// The text as URI-reference (RFC 3986): unchanged when it is one, else with percent escapes.
std::string uri_reference(std::string_view text) {
  constexpr std::string_view kAllowed = "-._~/?:@!$&'()*+,;=";
  const std::size_t no_colon = colon_free_prefix(text);
  const bool has_ip_literal = text.find("//[") != std::string_view::npos;
  const std::size_t fragment = text.find('#');
  std::string uri;
  uri.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool escape = c == '%' && text.size() - at > 2 && is_hex(text[at + 1]) && is_hex(text[at + 2]);
    const bool plain = is_alnum(c) || (kAllowed.find(c) != std::string_view::npos && (c != ':' || at >= no_colon));
    if (escape || plain || (c == '#' && at == fragment) || ((c == '[' || c == ']') && has_ip_literal))
      uri += c;
    else
      put_escaped(uri, c);
  }
  return uri;
}

bool is_trace_header(std::string_view name) { return name == "traceparent" || name == "tracestate"; }

void put_trace_headers(JsonLine& line, const std::optional<std::string>& headers) {
  // Most headers have none: look before parsing. A key may be spelled with escapes.
  if (!headers.has_value() ||
      (headers->find("\"trace") == std::string::npos && headers->find('\\') == std::string::npos))
    return;
  std::vector<JsonMember> members;
  if (read_members(*headers, members)) return;  // a foreign writer's; nothing to take out of it
  for (const JsonMember& member : members)
    if (is_trace_header(member.key) && member.kind == JsonKind::string) line.text(member.key, member.text);
}

std::string write(const Event& event) {
  JsonLine line{JsonLine::OnBadUtf8::strict, 700 + event.event_payload.size()};
  const std::string source = uri_reference(event.event_source);
  line.raw("specversion", R"("1.0")");
  line.text("id", event.event_no);
  line.text("source", source);
  line.text("type", event.event_type);
  line.text("subject", event.aggregate_type + "/" + event.aggregate_id);
  line.text("time", format_time(event.create_time));
  line.raw("datacontenttype", R"("application/json")");
  line.text("aggregatetype", event.aggregate_type);
  line.text("aggregateid", event.aggregate_id);
  line.number("eventversion", event.event_version);
  // A source that is no URI-reference could not be told from its escaped form.
  if (source != event.event_source) line.text("eventsource", event.event_source);
  line.text_if_set("topic", event.topic);
  line.text_if_set("routingkey", event.routing_key);
  line.text_if_set("traceid", event.trace_id);
  put_trace_headers(line, event.event_headers);
  line.json("data", event.event_payload);
  return std::move(line).finish();
}

void require_attributes(const Event& event) {
  const auto of = [&] { return " of event '" + utf8::for_message(event.event_no) + "'"; };
  if (event.event_no.empty()) throw InvalidEvent("event_no", "event_no is empty; a CloudEvent needs an id");
  if (event.event_source.empty()) throw InvalidEvent("event_source", "event_source" + of() + " is empty");
  if (event.event_type.empty()) throw InvalidEvent("event_type", "event_type" + of() + " is empty");
  if (!is_valid_json(event.event_payload))
    throw InvalidEvent("event_payload", "event_payload" + of() + " is not valid JSON");
}

std::string column_with_bad_utf8(const Event& event) {
  for (const FieldLimit& limit : field_limits())
    if (!utf8_length(limit.get(event)).has_value()) return std::string{limit.column};
  return "event";
}

/// The attributes of one CloudEvent by name.
class Attributes {
 public:
  explicit Attributes(std::string_view line) {
    if (const auto error = read_members(line, members_)) throw InvalidEvent(error->key, error->message);
    for (const JsonMember& member : members_) check_name(member);
  }

  [[nodiscard]] const std::vector<JsonMember>& members() const { return members_; }

  /// Null is the same as not there.
  [[nodiscard]] const JsonMember* find(std::string_view name) const {
    for (const JsonMember& member : members_)
      if (member.key == name) return member.kind == JsonKind::null ? nullptr : &member;
    return nullptr;
  }
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    const JsonMember* member = find(name);
    if (member == nullptr) return std::nullopt;
    if (member->kind != JsonKind::string) refuse(member->key, "must be a string");
    return member->text;
  }
  [[nodiscard]] std::string required(std::string_view name) const {
    std::optional<std::string> value = text(name);
    if (!value.has_value() || value->empty()) refuse(std::string{name}, "is required and must not be empty");
    return std::move(*value);
  }

 private:
  static void check_name(const JsonMember& member) {
    const std::string& name = member.key;
    const bool known = name == "data_base64";
    if (!known && (name.empty() || !std::all_of(name.begin(), name.end(), is_lower_or_digit)))
      throw InvalidEvent(utf8::for_message(name),
                         "attribute '" + utf8::for_message(name) + "': names are lower-case letters and digits");
  }

  std::vector<JsonMember> members_;
};

void read_aggregate(const Attributes& attributes, NewEvent& event) {
  std::optional<std::string> type = attributes.text("aggregatetype");
  std::optional<std::string> id = attributes.text("aggregateid");
  if (!type.has_value() && !id.has_value()) {
    const std::string subject = attributes.text("subject").value_or("");
    const std::size_t slash = subject.find('/');
    if (slash == std::string::npos)
      refuse("subject", "must be TYPE/ID of the aggregate, or aggregatetype and aggregateid must be there");
    type = subject.substr(0, slash);
    id = subject.substr(slash + 1);
  }
  if (!type.has_value()) refuse("aggregatetype", "is required beside aggregateid");
  if (!id.has_value()) refuse("aggregateid", "is required beside aggregatetype");
  event.aggregate_type = std::move(*type);
  event.aggregate_id = std::move(*id);
}

/// True when the original of an escaped source was there.
bool read_source(const Attributes& attributes, NewEvent& event) {
  event.event_source = attributes.required("source");
  std::optional<std::string> original = attributes.text("eventsource");
  if (!original.has_value() || uri_reference(*original) != event.event_source) return false;
  event.event_source = std::move(*original);
  return true;
}

std::int32_t read_version(const Attributes& attributes) {
  const JsonMember* member = attributes.find("eventversion");
  if (member == nullptr) return NewEvent{}.event_version;
  std::int32_t value = 0;
  const char* end = member->raw.data() + member->raw.size();
  const auto [stop, error] = std::from_chars(member->raw.data(), end, value);
  if (error != std::errc{} || stop != end) refuse("eventversion", "must be a whole number of 32 bits");
  return value;
}

/// `application/json`, `text/json`, `application/anything+json`, with or without parameters.
bool is_json_type(std::string_view type) {
  std::string name{type.substr(0, type.find(';'))};
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto ends_with = [&](std::string_view end) {
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  return ends_with("/json") || ends_with("+json");
}

std::string read_data(const Attributes& attributes) {
  if (attributes.find("data_base64") != nullptr) refuse("data_base64", "binary data can't be taken; give JSON in data");
  if (const auto type = attributes.text("datacontenttype"); type.has_value() && !is_json_type(*type))
    refuse("datacontenttype", "only JSON can be taken");
  const JsonMember* data = attributes.find("data");
  return data == nullptr ? "null" : std::string{data->raw};
}

/// What no column takes, as an object; nullopt when nothing is left.
std::optional<std::string> read_headers(const Attributes& attributes, bool original_source) {
  constexpr std::array<std::string_view, 13> kTaken{
      "specversion",   "id",          "source",       "type",  "subject",    "time",   "data",
      "aggregatetype", "aggregateid", "eventversion", "topic", "routingkey", "traceid"};
  JsonLine headers{JsonLine::OnBadUtf8::strict, 256};
  bool any = false;
  for (const JsonMember& member : attributes.members()) {
    if (member.kind == JsonKind::null || std::find(kTaken.begin(), kTaken.end(), member.key) != kTaken.end()) continue;
    if (member.key == "eventsource" && original_source) continue;
    if (member.key == "datacontenttype" && member.text == kJsonType) continue;
    if (member.kind != JsonKind::string && member.kind != JsonKind::integer && member.kind != JsonKind::boolean)
      refuse(member.key, "must be a string, a whole number or a boolean");
    headers.raw(member.key, member.raw);
    any = true;
  }
  return any ? std::optional{std::move(headers).finish()} : std::nullopt;
}

}  // namespace

std::string to_cloudevent(const Event& event) {
  require_attributes(event);
  try {
    return write(event);
  } catch (const nlohmann::json::type_error&) {
    const std::string column = column_with_bad_utf8(event);
    throw InvalidEvent(column, column + " of event '" + utf8::for_message(event.event_no) + "' is not valid UTF-8");
  }
}

NewEvent parse_cloudevent(std::string_view line) {
  const Attributes attributes{line};
  if (attributes.required("specversion") != "1.0") refuse("specversion", "only 1.0 is known");
  NewEvent event;
  event.event_no = attributes.required("id");
  event.event_type = attributes.required("type");
  const bool original_source = read_source(attributes, event);
  read_aggregate(attributes, event);
  if (const auto time = attributes.text("time")) {
    event.create_time = parse_time(*time);
    if (!event.create_time.has_value()) refuse("time", "must be an RFC 3339 time, for example 2026-11-30T17:38:00Z");
  }
  event.event_version = read_version(attributes);
  event.topic = attributes.text("topic");
  event.routing_key = attributes.text("routingkey");
  event.trace_id = attributes.text("traceid");
  event.event_payload = read_data(attributes);
  event.event_headers = read_headers(attributes, original_source);
  return event;
}

}  // namespace waybill
