#include "waybill/limits.hpp"

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/error.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;

NewEvent valid_event() {
  NewEvent event;
  event.event_no = "E-1";
  event.aggregate_type = "ORDER";
  event.aggregate_id = "42";
  event.event_type = "ORDER_CREATED";
  event.event_payload = R"({"a":1})";
  return event;
}

/// The same fields as the table of limits, by hand: column, characters, required, how to set it.
struct Field {
  std::string column;
  std::size_t limit;
  bool required;
  void (*set)(NewEvent&, std::string);
};

const std::vector<Field> kFields{
    {"event_no", 64, true, [](NewEvent& event, std::string value) { event.event_no = std::move(value); }},
    {"aggregate_type", 64, true, [](NewEvent& event, std::string value) { event.aggregate_type = std::move(value); }},
    {"aggregate_id", 64, true, [](NewEvent& event, std::string value) { event.aggregate_id = std::move(value); }},
    {"event_type", 64, true, [](NewEvent& event, std::string value) { event.event_type = std::move(value); }},
    {"event_source", 64, true, [](NewEvent& event, std::string value) { event.event_source = std::move(value); }},
    {"publish_channel", 32, true, [](NewEvent& event, std::string value) { event.publish_channel = std::move(value); }},
    {"topic", 128, false, [](NewEvent& event, std::string value) { event.topic = std::move(value); }},
    {"routing_key", 128, false, [](NewEvent& event, std::string value) { event.routing_key = std::move(value); }},
    {"trace_id", 128, false, [](NewEvent& event, std::string value) { event.trace_id = std::move(value); }},
    {"remark", 500, false, [](NewEvent& event, std::string value) { event.remark = std::move(value); }},
};

std::string repeat(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t count = 0; count < times; ++count) text += piece;
  return text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

FieldError violation(const NewEvent& event, const Limits& limits = {}) {
  const std::optional<FieldError> error = find_violation(event, limits);
  REQUIRE(error.has_value());
  CHECK(contains(error->message, error->field));
  return *error;
}

TEST_CASE("a valid event breaks no limit") {
  CHECK_FALSE(find_violation(valid_event(), Limits{}).has_value());
  CHECK_NOTHROW(require_valid({}, Limits{}));
  check_property("what the generator makes is valid", [] {
    const std::optional<FieldError> error = find_violation(any_event(), Limits{});
    RC_ASSERT(!error.has_value());
  });
}

TEST_CASE("the table of limits is the seed's") {
  REQUIRE(field_limits().size() == kFields.size());
  for (std::size_t index = 0; index < kFields.size(); ++index) {
    CAPTURE(kFields[index].column);
    CHECK(field_limits()[index].column == kFields[index].column);
    CHECK(field_limits()[index].max_characters == kFields[index].limit);
    CHECK(field_limits()[index].required == kFields[index].required);
  }
}

TEST_CASE("each field may be as long as its column, in characters") {
  for (const Field& field : kFields) {
    for (const std::string character : {"x", "é", "订", "😀"}) {
      CAPTURE(field.column, character);
      NewEvent event = valid_event();
      field.set(event, repeat(character, field.limit));
      CHECK_FALSE(find_violation(event, Limits{}).has_value());
      field.set(event, repeat(character, field.limit + 1));
      const FieldError error = violation(event);
      CHECK(error.field == field.column);
      CHECK(error.message == field.column + " is " + std::to_string(field.limit + 1) +
                                 " characters long, the limit is " + std::to_string(field.limit));
    }
  }
}

TEST_CASE("required fields must not be empty, others may") {
  for (const Field& field : kFields) {
    CAPTURE(field.column);
    NewEvent event = valid_event();
    field.set(event, "");
    if (field.required)
      CHECK(violation(event).field == field.column);
    else
      CHECK_FALSE(find_violation(event, Limits{}).has_value());
  }
}

TEST_CASE("fields must be UTF-8 without NUL") {
  for (const Field& field : kFields) {
    CAPTURE(field.column);
    NewEvent event = valid_event();
    for (const std::string bad : {"\xFF", "a\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"}) {
      field.set(event, bad);
      const FieldError error = violation(event);
      CHECK(error.field == field.column);
      CHECK(error.message == field.column + " is not valid UTF-8 (" + std::to_string(bad.size()) + " bytes)");
    }
    field.set(event, std::string("a\0b", 3));
    CHECK(contains(violation(event).message, "NUL"));
  }
}

TEST_CASE("the payload must be JSON of limited size") {
  const std::string secret = "confidential";
  NewEvent event = valid_event();
  event.event_payload = "{\"" + secret + "\":";
  FieldError error = violation(event);
  CHECK(error.field == "event_payload");
  CHECK(contains(error.message, "not valid JSON"));
  CHECK(contains(error.message, std::to_string(event.event_payload.size()) + " bytes"));
  CHECK_FALSE(contains(error.message, secret));

  event.event_payload = "\"" + secret + std::string(86, 'x') + "\"";
  Limits limits;
  limits.max_payload_bytes = event.event_payload.size();
  CHECK_FALSE(find_violation(event, limits).has_value());
  --limits.max_payload_bytes;
  error = violation(event, limits);
  CHECK(error.message == "event_payload is 100 bytes long, the limit is 99");

  event.event_payload = "";
  CHECK(contains(violation(event).message, "required"));
  event.event_payload = "\"" + std::string(1U << 20, 'x') + "\"";
  CHECK(violation(event).message == "event_payload is 1048578 bytes long, the limit is 1048576");
}

TEST_CASE("headers must be a JSON object of limited size") {
  NewEvent event = valid_event();
  for (const char* bad : {"", "[]", "null", "{", "\"x\"", "{\"a\":1}x", "{\"a\":\xFF}"}) {
    CAPTURE(bad);
    event.event_headers = bad;
    const FieldError error = violation(event);
    CHECK(error.field == "event_headers");
    CHECK(contains(error.message, "JSON object"));
  }
  event.event_headers = R"( {"a":1} )";
  CHECK_FALSE(find_violation(event, Limits{}).has_value());
  event.event_headers = R"({"a":")" + std::string(65536, 'x') + "\"}";
  CHECK(violation(event).message == "event_headers is 65544 bytes long, the limit is 65536");
}

TEST_CASE("numbers and times have limits, too") {
  NewEvent event = valid_event();
  event.max_retry_count = -1;
  CHECK(violation(event).message == "max_retry_count is -1, the smallest value is 0");
  event.max_retry_count = 0;
  event.create_time = Timestamp::max();
  CHECK(violation(event).field == "create_time");
  event.create_time = Timestamp{};
  event.next_retry_time = Timestamp{std::chrono::sys_days{std::chrono::year{1000} / 1 / 1}} - 1us;
  CHECK(violation(event).field == "next_retry_time");
  event.next_retry_time = *event.next_retry_time + 1us;
  CHECK_FALSE(find_violation(event, Limits{}).has_value());
}

TEST_CASE("the first event that breaks a limit is named") {
  std::vector<NewEvent> events{valid_event(), valid_event(), valid_event()};
  events[1].event_no = "E-2";
  events[1].topic = std::string(129, 't');
  events[2].event_no = "";
  try {
    require_valid(events, Limits{});
    FAIL("taken");
  } catch (const InvalidEvent& error) {
    CHECK(error.field() == "topic");
    CHECK(error.code() == ErrorCode::invalid);
    CHECK(std::string{error.what()} == "event 'E-2': topic is 129 characters long, the limit is 128");
  }
}

TEST_CASE("a wrong event number is shown cut and clean") {
  std::vector<NewEvent> events{valid_event()};
  events[0].event_no = "\n\xFF" + std::string(5000, 'x');
  try {
    require_valid(events, Limits{});
    FAIL("taken");
  } catch (const InvalidEvent& error) {
    const std::string text = error.what();
    CHECK(text.size() < 300);
    CHECK(utf8_length(text).has_value());
    CHECK(text.find('\n') == std::string::npos);
  }
}

/// UTF-8 by counting down from the definition: decode, then reject what encodes otherwise.
std::optional<std::size_t> reference_length(const std::string& text) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead >> 5U == 6 ? 2 : lead >> 4U == 14 ? 3 : lead >> 3U == 30 ? 4 : 0;
    if (size == 0 || text.size() - at < size) return std::nullopt;
    char32_t code = size == 1 ? lead : lead & (0xFFU >> (size + 1));
    for (std::size_t next = 1; next < size; ++next)
      code = code << 6U | (static_cast<unsigned char>(text[at + next]) & 63U);
    std::string again;
    append_utf8(again, code);
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || again != text.substr(at, size)) return std::nullopt;
    at += size;
  }
  return characters;
}

TEST_CASE("characters are counted, wrong UTF-8 is found") {
  CHECK(utf8_length("") == 0U);
  CHECK(utf8_length("12345678é12345678") == 17U);
  check_property(
      "utf8_length agrees with a plain decoder",
      [] {
        std::string text = *any_text(0, 30);
        if (!text.empty() && *rc::gen::arbitrary<bool>())
          text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
        RC_ASSERT(utf8_length(text) == reference_length(text));
        const std::string bytes = *text_of("a\x80\xBF\xC2\xE0\xED\xF0\xF4\xA0\x90\x8F", 0, 6);
        RC_ASSERT(utf8_length(bytes) == reference_length(bytes));
      },
      20);
}

}  // namespace
}  // namespace waybill::test
