#include <nlohmann/json.hpp>

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/codec.hpp"
#include "waybill/limits.hpp"

namespace waybill::test {
namespace {

using nlohmann::json;

Event event() {
  Event event;
  event.event_no = "E-1";
  event.aggregate_type = "ORDER";
  event.aggregate_id = "42";
  event.event_type = "ORDER_CREATED";
  event.event_source = "order-service";
  event.event_payload = "{\"a\":\n1.0}";
  event.create_time = *parse_time("2026-11-30T17:38:00Z");
  return event;
}

InvalidEvent refusal(const std::string& line) {
  try {
    (void)parse_cloudevent(line);
  } catch (const InvalidEvent& error) {
    return error;
  }
  FAIL("taken: " << line);
  throw;
}

std::string source_of(const std::string& event_source) {
  Event given = event();
  given.event_source = event_source;
  return json::parse(to_cloudevent(given))["source"].get<std::string>();
}

TEST_CASE("a CloudEvent has the attributes of the specification, data last") {
  CHECK(to_cloudevent(event()) ==
        R"({"specversion":"1.0","id":"E-1","source":"order-service","type":"ORDER_CREATED","subject":"ORDER/42",)"
        R"("time":"2026-11-30T17:38:00.000000Z","datacontenttype":"application/json","aggregatetype":"ORDER",)"
        R"("aggregateid":"42","eventversion":1,"data":{"a": 1.0}})");
}

TEST_CASE("optional columns and trace headers become extensions") {
  Event given = event();
  given.topic = "order.created";
  given.routing_key = "eu";
  given.trace_id = "t-1";
  given.event_headers =
      R"({"tenant":"x","trac\u0065parent":"00-a-b-01","tracestate":"v=\"1\"","nested":{"traceparent":1}})";
  const json line = json::parse(to_cloudevent(given));
  CHECK(line["topic"] == "order.created");
  CHECK(line["routingkey"] == "eu");
  CHECK(line["traceid"] == "t-1");
  CHECK(line["traceparent"] == "00-a-b-01");
  CHECK(line["tracestate"] == "v=\"1\"");
  CHECK_FALSE(line.contains("tenant"));
  CHECK_FALSE(line.contains("nested"));
  given.event_headers = R"({"traceparent":5)";
  CHECK_FALSE(json::parse(to_cloudevent(given)).contains("traceparent"));
}

TEST_CASE("a source is a URI-reference") {
  for (const char* uri : {"order-service", "/a/b", "https://example.org/a%20b?c=d#e", "urn:x:y", "http://[::1]:80/",
                          "a/b:c", "tag:x@y,2026:z", "A.b~c_d!$&'()*+,;="}) {
    CAPTURE(uri);
    CHECK(source_of(uri) == uri);
    CHECK_FALSE(json::parse(to_cloudevent(event())).contains("eventsource"));
  }
  CHECK(source_of("my service") == "my%20service");
  CHECK(source_of("订单") == "%E8%AE%A2%E5%8D%95");
  CHECK(source_of("100%") == "100%25");
  CHECK(source_of("%4") == "%254");
  CHECK(source_of("a#b#c") == "a#b%23c");
  CHECK(source_of("my_service:80") == "my_service%3A80");
  CHECK(source_of(":x") == "%3Ax");
  CHECK(source_of("a[0]") == "a%5B0%5D");
  CHECK(source_of("a\"\\\n") == "a%22%5C%0A");
}

TEST_CASE("an escaped source comes back as it was") {
  Event given = event();
  given.event_source = "my service";
  const std::string line = to_cloudevent(given);
  CHECK(json::parse(line)["eventsource"] == "my service");
  const NewEvent again = parse_cloudevent(line);
  CHECK(again.event_source == "my service");
  CHECK_FALSE(again.event_headers.has_value());
}

TEST_CASE("a foreign eventsource is a header like others") {
  const NewEvent given =
      parse_cloudevent(R"({"specversion":"1.0","id":"1","source":"s","type":"t","subject":"a/b","eventsource":"x y"})");
  CHECK(given.event_source == "s");
  CHECK(given.event_headers == R"({"eventsource":"x y"})");
}

TEST_CASE("what a CloudEvent can't do without is missed") {
  const std::vector<std::pair<std::string, void (*)(Event&)>> wrong{
      {"event_no", [](Event& one) { one.event_no.clear(); }},
      {"event_source", [](Event& one) { one.event_source.clear(); }},
      {"event_type", [](Event& one) { one.event_type.clear(); }},
      {"event_payload", [](Event& one) { one.event_payload = "{\"secret\":"; }},
      {"event_payload", [](Event& one) { one.event_payload.clear(); }},
      {"topic", [](Event& one) { one.topic = "a\xFF"; }},
      {"event_no", [](Event& one) { one.event_no = "a\xFF"; }},
  };
  for (const auto& [field, change] : wrong) {
    CAPTURE(field);
    Event given = event();
    change(given);
    try {
      (void)to_cloudevent(given);
      FAIL("taken");
    } catch (const InvalidEvent& error) {
      CHECK(error.field() == field);
      CHECK(utf8_length(error.what()).has_value());
      CHECK(std::string{error.what()}.find("secret") == std::string::npos);
    }
  }
}

/// The event as its CloudEvent can say it: no channel, remark, budget or schedule; of the headers the trace only.
NewEvent told(const Event& given, const std::optional<std::string>& trace_headers) {
  NewEvent event;
  static_cast<EventContent&>(event) = given;
  event.publish_channel = NewEvent{}.publish_channel;
  event.remark.reset();
  event.create_time = given.create_time;
  event.event_headers = trace_headers;
  for (char& c : event.event_payload)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return event;
}

TEST_CASE("parse_cloudevent inverts to_cloudevent") {
  check_property(
      "parse_cloudevent(to_cloudevent(e)) == e",
      [] {
        Event given;
        static_cast<EventContent&>(given) = any_event();
        given.event_payload = any_json(4);
        given.create_time = *any_time();
        std::optional<std::string> trace;
        if (*rc::gen::arbitrary<bool>()) {
          given.event_headers = any_headers();
        } else if (*rc::gen::arbitrary<bool>()) {
          json headers{{"traceparent", *any_text(0, 8)}};
          trace = headers.dump();
          headers["other"] = 1;
          given.event_headers = headers.dump();
        }
        const std::string line = to_cloudevent(given);
        RC_ASSERT(line.find_first_of("\n\r") == std::string::npos);
        const NewEvent again = parse_cloudevent(line);
        const std::optional<std::string> headers = again.event_headers;
        NewEvent expected = told(given, headers);
        RC_ASSERT(again == expected);
        RC_ASSERT(headers.has_value() == trace.has_value());
        if (trace.has_value()) RC_ASSERT(json_equal(*headers, *trace));
      },
      5);
}

const std::string kForeign =
    R"({"specversion":"1.0","id":"A234","source":"https://example.org/a%2Fb","type":"com.example.x")";

TEST_CASE("a foreign CloudEvent is taken") {
  const NewEvent given = parse_cloudevent(
      kForeign +
      R"(,"subject":"ORDER/42/7","time":"2026-11-30T17:38:00.123456789Z","datacontenttype":"application/json",)"
      R"("dataschema":"https://example.org/s","comexampleextension1":"value","flag":true,"n":5,"none":null,)"
      R"("data":{"x": 1.0}})");
  CHECK(given.event_no == "A234");
  CHECK(given.event_source == "https://example.org/a%2Fb");
  CHECK(given.event_type == "com.example.x");
  CHECK(given.aggregate_type == "ORDER");
  CHECK(given.aggregate_id == "42/7");
  CHECK(given.create_time == parse_time("2026-11-30T17:38:00.123456Z"));
  CHECK(given.event_payload == R"({"x": 1.0})");
  CHECK(given.event_headers ==
        R"({"dataschema":"https://example.org/s","comexampleextension1":"value","flag":true,"n":5})");
  CHECK_FALSE(given.topic.has_value());
  CHECK_FALSE(find_violation(given, Limits{}).has_value());
}

TEST_CASE("an aggregate of its own wins over the subject") {
  const NewEvent given = parse_cloudevent(kForeign + R"(,"subject":"x","aggregatetype":"A","aggregateid":"1"})");
  CHECK(given.aggregate_type == "A");
  CHECK(given.aggregate_id == "1");
  CHECK(given.event_payload == "null");
}

TEST_CASE("JSON media types are taken, others are not") {
  for (const char* type :
       {"application/json", "Application/JSON; charset=utf-8", "text/json", "application/vnd.x+json"})
    CHECK_NOTHROW(parse_cloudevent(kForeign + R"(,"subject":"a/b","datacontenttype":")" + type + "\"}"));
  for (const char* type : {"text/xml", "application/jsonx", "json", ""})
    CHECK(refusal(kForeign + R"(,"subject":"a/b","datacontenttype":")" + type + "\"}").field() == "datacontenttype");
}

TEST_CASE("wrong CloudEvents are refused by attribute") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"specversion", R"({"id":"1","source":"s","type":"t","subject":"a/b"})"},
      {"specversion", R"({"specversion":"0.3","id":"1","source":"s","type":"t","subject":"a/b"})"},
      {"specversion", R"({"specversion":1.0,"id":"1","source":"s","type":"t","subject":"a/b"})"},
      {"id", R"({"specversion":"1.0","source":"s","type":"t","subject":"a/b"})"},
      {"id", R"({"specversion":"1.0","id":"","source":"s","type":"t","subject":"a/b"})"},
      {"id", R"({"specversion":"1.0","id":1,"source":"s","type":"t","subject":"a/b"})"},
      {"source", R"({"specversion":"1.0","id":"1","type":"t","subject":"a/b"})"},
      {"type", R"({"specversion":"1.0","id":"1","source":"s","type":null,"subject":"a/b"})"},
      {"subject", kForeign + "}"},
      {"subject", kForeign + R"(,"subject":"42"})"},
      {"aggregateid", kForeign + R"(,"aggregatetype":"A"})"},
      {"aggregatetype", kForeign + R"(,"aggregateid":"A"})"},
      {"time", kForeign + R"(,"subject":"a/b","time":"yesterday"})"},
      {"eventversion", kForeign + R"(,"subject":"a/b","eventversion":"1"})"},
      {"eventversion", kForeign + R"(,"subject":"a/b","eventversion":1e1})"},
      {"topic", kForeign + R"(,"subject":"a/b","topic":1})"},
      {"data_base64", kForeign + R"(,"subject":"a/b","data_base64":"QQ=="})"},
      {"ext", kForeign + R"(,"subject":"a/b","ext":{}})"},
      {"ext", kForeign + R"(,"subject":"a/b","ext":1.5})"},
      {"some_ext", kForeign + R"(,"subject":"a/b","some_ext":"x"})"},
      {"Ext", kForeign + R"(,"subject":"a/b","Ext":"x"})"},
      {"id", kForeign + R"(,"subject":"a/b","id":"2"})"},
      {"", kForeign},
      {"", "[]"},
  };
  for (const auto& [field, line] : wrong) {
    CAPTURE(field, line);
    CHECK(refusal(line).field() == field);
  }
}

TEST_CASE("any bytes are a CloudEvent or a clear error") {
  check_property(
      "parse_cloudevent throws nothing but InvalidEvent, with a message that is valid text",
      [] {
        std::string line = *rc::gen::oneOf(any_bytes(), rc::gen::just(to_cloudevent(event())));
        const int changes = *rc::gen::inRange(0, 4);
        for (int change = 0; change < changes && !line.empty(); ++change)
          line[*rc::gen::inRange<std::size_t>(0, line.size())] = *rc::gen::elementOf(std::string{"[]{}:,\"\\0e\n\xC3"});
        try {
          (void)parse_cloudevent(line);
        } catch (const InvalidEvent& error) {
          RC_ASSERT(utf8_length(error.what()).has_value());
        }
      },
      10);
}

}  // namespace
}  // namespace waybill::test
