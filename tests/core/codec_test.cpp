#include "waybill/codec.hpp"

#include <nlohmann/json.hpp>

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/limits.hpp"

namespace waybill::test {
namespace {

using nlohmann::json;

std::string nested(int depth) {
  const auto size = static_cast<std::size_t>(depth);
  return std::string(size, '[') + std::string(size, ']');
}

/// What nlohmann's own parser says, without the two things it lets pass.
bool reference_valid(const std::string& text) {
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t event, json&) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kMaxJsonDepth) too_deep = true;
    return true;
  };
  const json tree = json::parse(text, watch, false);
  return !tree.is_discarded() && !too_deep && text.find('\0') == std::string::npos &&
         text.substr(0, 3) != "\xEF\xBB\xBF";
}

TEST_CASE("JSON texts of every kind are valid") {
  for (const std::string text :
       {"null", "true", "0", "-1.5e10", "\"\"", "[]", "{}", " [ 1 , { \"a\" : null } ] \r\n\t",
        "\"\\ud83d\\ude00 \\u0000\"", "1e-999", "123456789012345678901234567890", "\"订单\""}) {
    CAPTURE(text);
    CHECK(is_valid_json(text));
  }
  CHECK(is_valid_json(nested(kMaxJsonDepth)));
}

TEST_CASE("what is no JSON is refused") {
  for (const std::string text : {"",
                                 " ",
                                 "nul",
                                 "tru",
                                 "01",
                                 "+1",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "'a'",
                                 "\"a",
                                 "[1,]",
                                 "[1 2]",
                                 "{\"a\"}",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "[",
                                 "]",
                                 "[1]]",
                                 "{}{}",
                                 "1 2",
                                 "NaN",
                                 "Infinity",
                                 "1e999",
                                 "-1e999",
                                 "[1e400]",
                                 "// c\n1",
                                 "/**/1",
                                 "\"\n\"",
                                 "\"\t\"",
                                 "\"\\x\"",
                                 "\"\\u12\"",
                                 "\"\\ud800\"",
                                 "\"\\udc00\"",
                                 "\"\xFF\"",
                                 "\"\xC3\"",
                                 "\"\xC0\x80\"",
                                 "\"\xED\xA0\x80\"",
                                 "\xEF\xBB\xBF{}",
                                 "\xEF\xBB\xBF",
                                 "\xFE\xFF"}) {
    CAPTURE(text);
    CHECK_FALSE(is_valid_json(text));
  }
  CHECK_FALSE(is_valid_json(std::string_view{"{}\0", 3}));
  CHECK_FALSE(is_valid_json(std::string_view{"{}\0garbage", 10}));
  CHECK_FALSE(is_valid_json(std::string_view{"\"a\0b\"", 5}));
  CHECK_FALSE(is_valid_json(std::string(400, '1')));
  CHECK_FALSE(is_valid_json(nested(kMaxJsonDepth + 1)));
  CHECK_FALSE(is_valid_json(std::string(1'000'000, '[')));
}

TEST_CASE("depth counts what is open, not what was") {
  std::string wide = "[";
  for (int count = 0; count < 1000; ++count) wide += "{},[],";
  CHECK(is_valid_json(wide + "1]"));
}

TEST_CASE("JSON validity agrees with the library's parser") {
  check_property(
      "is_valid_json == nlohmann's parse, over JSON, broken JSON and bytes",
      [] {
        std::string text = *rc::gen::oneOf(rc::gen::exec([] { return any_json(4); }), any_bytes(),
                                           text_of("[]{}:,\"\\u0123e+-.tnf ", 0, 12));
        const int changes = *rc::gen::inRange(0, 3);
        for (int change = 0; change < changes && !text.empty(); ++change)
          text[*rc::gen::inRange<std::size_t>(0, text.size())] =
              *rc::gen::elementOf(std::string{"[]{}:,\"\\0e\n\xC3\x00", 13});
        const bool expected = reference_valid(text);
        RC_CLASSIFY(expected, "valid");
        RC_ASSERT(is_valid_json(text) == expected);
        RC_ASSERT(is_json_object(text) == (expected && json::parse(text).is_object()));
      },
      30);
}

TEST_CASE("JSON objects are told from other values") {
  CHECK(is_json_object(" \n{\"a\":1}"));
  CHECK_FALSE(is_json_object("[]"));
  CHECK_FALSE(is_json_object("{"));
  CHECK_FALSE(is_json_object("\"{}\""));
  CHECK_FALSE(is_json_object(""));
}

TEST_CASE("JSON is equal by value") {
  CHECK(json_equal(R"({"a":1,"b":[true,null]})", R"( { "b" : [ true , null ], "a" : 1.0 } )"));
  CHECK(json_equal(R"("é")", R"("\u00e9")"));
  CHECK(json_equal("1e2", "100"));
  CHECK_FALSE(json_equal("[1,2]", "[2,1]"));
  CHECK_FALSE(json_equal(R"({"a":1})", R"({"a":1,"b":null})"));
  CHECK_FALSE(json_equal("1", "\"1\""));
  CHECK_FALSE(json_equal("9007199254740993", "9007199254740992"));
  CHECK_FALSE(json_equal("nonsense", "nonsense"));
  check_property("a value equals itself written anew", [] {
    const std::string text = any_json(4);
    RC_ASSERT(json_equal(text, json::parse(text).dump(2)));
  });
}

const std::string kLine = R"({"event_no":"E-1","aggregate_type":"ORDER","aggregate_id":"42","event_type":"CREATED",)"
                          R"("event_payload":{"a": 1.0}})";

/// The line with one more member.
std::string with(const std::string& member) { return kLine.substr(0, kLine.size() - 1) + "," + member + "}"; }

InvalidEvent refusal(const std::string& line) {
  try {
    (void)parse_event(line);
  } catch (const InvalidEvent& error) {
    CHECK(utf8_length(error.what()).has_value());
    return error;
  }
  FAIL("taken: " << line);
  throw;
}

TEST_CASE("a line with the required keys is an event with defaults") {
  NewEvent expected;
  expected.event_no = "E-1";
  expected.aggregate_type = "ORDER";
  expected.aggregate_id = "42";
  expected.event_type = "CREATED";
  expected.event_payload = R"({"a": 1.0})";
  CHECK(parse_event(kLine) == expected);
  CHECK(parse_event("  " + kLine + " \r") == expected);
}

TEST_CASE("every required key is missed") {
  for (const std::string key : {"event_no", "aggregate_type", "aggregate_id", "event_type", "event_payload"}) {
    CAPTURE(key);
    json line = json::parse(kLine);
    line.erase(key);
    CHECK(refusal(line.dump()).field() == key);
    if (key == "event_payload") continue;
    line[key] = nullptr;
    CHECK(refusal(line.dump()).field() == key);
  }
}

TEST_CASE("a payload keeps its text") {
  for (const std::string payload :
       {"1.0", "1e2", "-0", "18446744073709551616", "123456789012345678901234567890.50", "null", "true", "\"a\\u0041\"",
        "[ 1 ,\t2 ]", "{ \"b\":1, \"a\" : {\"b\":[ {} ]}, \"b\":2 }", "[]", "{}"}) {
    CAPTURE(payload);
    const std::string start =
        R"({"event_no":"E-1","aggregate_type":"T","aggregate_id":"I","event_type":"E","event_payload" : )";
    CHECK(parse_event(start + payload + "}").event_payload == payload);
    CHECK(parse_event(start + payload + " ,\"remark\":null}").event_payload == payload);
  }
}

TEST_CASE("optional keys and null") {
  const NewEvent event = parse_event(with(R"("event_version":7,"event_source":"s","publish_channel":"HTTP","topic":"t",
      "routing_key":"r","event_headers":{"h" : 1.50},"trace_id":"x","remark":"m","max_retry_count":0,
      "next_retry_time":"2026-11-30T17:38:00Z","create_time":"2026-11-30T18:38:00.5+01:00")"));
  CHECK(event.event_version == 7);
  CHECK(event.event_source == "s");
  CHECK(event.publish_channel == "HTTP");
  CHECK(event.topic == "t");
  CHECK(event.routing_key == "r");
  CHECK(event.event_headers == R"({"h" : 1.50})");
  CHECK(event.trace_id == "x");
  CHECK(event.remark == "m");
  CHECK(event.max_retry_count == 0);
  CHECK(event.next_retry_time == parse_time("2026-11-30T17:38:00Z"));
  CHECK(event.create_time == parse_time("2026-11-30T17:38:00.5Z"));
  CHECK(parse_event(with(R"("event_version":null,"event_source":null,"publish_channel":null,"topic":null,
      "event_headers":null,"max_retry_count":null,"next_retry_time":null,"create_time":null,"id":null)")) ==
        parse_event(kLine));
}

TEST_CASE("ids may be numbers") {
  const NewEvent event =
      parse_event(R"({"event_no":7,"aggregate_type":"T","aggregate_id":100000000000000000001,"event_type":"E",)"
                  R"("event_payload":1,"trace_id":8})");
  CHECK(event.event_no == "7");
  CHECK(event.aggregate_id == "100000000000000000001");
  CHECK(event.trace_id == "8");
}

TEST_CASE("wrong types are refused by key") {
  const std::vector<std::pair<std::string, std::string>> wrong{{"event_version", "\"1\""},
                                                               {"event_version", "1.0"},
                                                               {"event_version", "2147483648"},
                                                               {"event_version", "true"},
                                                               {"event_source", "1"},
                                                               {"publish_channel", "[]"},
                                                               {"topic", "1"},
                                                               {"topic", "{}"},
                                                               {"routing_key", "false"},
                                                               {"event_headers", "[]"},
                                                               {"event_headers", "\"{}\""},
                                                               {"trace_id", "1.5"},
                                                               {"remark", "1"},
                                                               {"max_retry_count", "\"5\""},
                                                               {"next_retry_time", "\"tomorrow\""},
                                                               {"next_retry_time", "17"},
                                                               {"create_time", "\"2026\""},
                                                               {"id", "\"seven\""},
                                                               {"id", "-1"},
                                                               {"update_time", "\"never\""},
                                                               {"publish_status", "2"},
                                                               {"publish_status", "\"0\""},
                                                               {"retry_count", "1"},
                                                               {"version", "1"},
                                                               {"deleted", "1"},
                                                               {"locked_by", "\"me\""},
                                                               {"lock_until", "\"2026-11-30T17:38:00Z\""},
                                                               {"fail_reason", "\"because\""}};
  for (const auto& [key, value] : wrong) {
    CAPTURE(key, value);
    const InvalidEvent error = refusal(with("\"" + key + "\":" + value));
    CHECK(error.field() == key);
    CHECK(std::string{error.what()}.substr(0, key.size()) == key);
  }
  json numeric = json::parse(kLine);
  numeric["aggregate_type"] = 1;
  CHECK(refusal(numeric.dump()).field() == "aggregate_type");
  numeric = json::parse(kLine);
  numeric["event_no"] = 1.5;
  CHECK(refusal(numeric.dump()).field() == "event_no");
}

TEST_CASE("unknown and repeated keys are refused by name") {
  CHECK_THAT(refusal(with(R"("evnet_type":"x")")).what(), Catch::Contains("did you mean 'event_type'?"));
  CHECK_THAT(refusal(with(R"("nonsense_key":1)")).what(), Catch::Contains("columns of biz_outbox_event"));
  const InvalidEvent twice = refusal(with(R"("event_no":"E-2")"));
  CHECK(twice.field() == "event_no");
  CHECK_THAT(twice.what(), Catch::Contains("given twice"));
  CHECK(refusal(with(R"("event\u005fno":"E-2")")).field() == "event_no");
  CHECK(std::string{refusal(with("\"" + std::string(100'000, 'k') + "\":1")).what()}.size() < 300);
}

TEST_CASE("a line that is no object is refused without being shown") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "not valid JSON at byte"},
      {"[1]", "not a JSON object"},
      {"\"QZ\"", "not a JSON object"},
      {"1", "not a JSON object"},
      {kLine + "x", "not valid JSON at byte"},
      {with(R"("remark":"QZ)"), "not valid JSON at byte"},
      {with("\"remark\":\"\xFF\""), "not valid JSON at byte"},
      {with("\"remark\":\"\",\"topic\":1e999"), "not valid JSON at byte"},
      {"\xEF\xBB\xBF" + kLine, "byte-order mark"},
      {kLine + std::string(1, '\0'), "NUL"},
      {R"({"event_payload":)" + nested(kMaxJsonDepth) + "}", "deeper than 100"},
  };
  for (const auto& [line, part] : wrong) {
    CAPTURE(line, part);
    const InvalidEvent error = refusal(line);
    CHECK(error.field().empty());
    CHECK_THAT(error.what(), Catch::Contains(part));
    CHECK(std::string{error.what()}.find("QZ") == std::string::npos);
  }
}

TEST_CASE("any bytes are an event or a clear error") {
  check_property(
      "parse_event throws nothing but InvalidEvent, with a message that is valid text",
      [] {
        std::string line =
            *rc::gen::oneOf(any_bytes(), rc::gen::just(kLine), rc::gen::exec([] { return any_json(4); }));
        const int changes = *rc::gen::inRange(0, 4);
        for (int change = 0; change < changes && !line.empty(); ++change)
          line[*rc::gen::inRange<std::size_t>(0, line.size())] = *rc::gen::elementOf(std::string{"[]{}:,\"\\0e\n\xC3"});
        try {
          (void)parse_event(line);
        } catch (const InvalidEvent& error) {
          RC_ASSERT(utf8_length(error.what()).has_value());
        }
      },
      10);
}

Event stored(const NewEvent& given) {
  Event event;
  static_cast<EventContent&>(event) = given;
  event.id = std::numeric_limits<std::int64_t>::max();
  event.max_retry_count = given.max_retry_count;
  event.next_retry_time = given.next_retry_time;
  event.create_time = given.create_time.value_or(Timestamp{});
  event.update_time = event.create_time;
  return event;
}

TEST_CASE("an event that was listed can be put again") {
  check_property("parse_event(to_json(e)) is what was put, its JSON on one line", [] {
    NewEvent given = any_event();
    given.create_time = given.create_time.value_or(Timestamp{});
    const std::string line = to_json(stored(given));
    RC_ASSERT(line.find_first_of("\n\r\t") == std::string::npos);
    const NewEvent again = parse_event(line);
    RC_ASSERT(json::parse(again.event_payload) == json::parse(given.event_payload));
    RC_ASSERT(again.event_payload.size() == given.event_payload.size());
    RC_ASSERT(content_difference(given, again).empty());
    given.event_payload = again.event_payload;
    given.event_headers = again.event_headers;
    RC_ASSERT(again == given);
  });
}

TEST_CASE("all columns are written in the table's order") {
  Event event = stored(parse_event(kLine));
  event.publish_status = Status::failed;
  event.retry_count = 2;
  event.version = 3;
  event.locked_by = "me";
  event.fail_reason = "say \"no\"\n";
  event.deleted = true;
  event.last_publish_time = Timestamp{};
  CHECK(to_json(event) ==
        R"({"id":"9223372036854775807","event_no":"E-1","aggregate_type":"ORDER","aggregate_id":"42",)"
        R"("event_type":"CREATED","event_version":1,"event_source":"waybill","publish_channel":"MQ","topic":null,)"
        R"("routing_key":null,"event_payload":{"a": 1.0},"event_headers":null,"publish_status":3,"retry_count":2,)"
        R"("max_retry_count":5,"next_retry_time":null,"locked_by":"me","lock_until":null,)"
        R"("last_publish_time":"1970-01-01T00:00:00.000000Z","published_time":null,"fail_reason":"say \"no\"\n",)"
        R"("trace_id":null,"remark":null,"version":3,"deleted":1,"create_time":"1970-01-01T00:00:00.000000Z",)"
        R"("update_time":"1970-01-01T00:00:00.000000Z"})");
  CHECK_FALSE(json::parse(to_json(event, false)).contains("event_payload"));
}

TEST_CASE("a foreign writer's broken texts do not stop a listing") {
  Event event = stored(parse_event(kLine));
  event.event_payload = "not json \xFF\n";
  event.event_headers = "{";
  event.topic = "\xFF";
  const json line = json::parse(to_json(event));
  CHECK(line["event_payload"] == "not json \xEF\xBF\xBD\n");
  CHECK(line["event_headers"] == "{");
  CHECK(line["topic"] == "\xEF\xBF\xBD");
}

TEST_CASE("a payload line is the payload on one line") {
  Event event = stored(parse_event(kLine));
  event.event_payload = "{\n\t\"a\": \"x\\n\",\r\n \"b\": 1.0}";
  CHECK(to_payload_line(event) == R"({  "a": "x\n",   "b": 1.0})");
  event.event_payload = "oops";
  CHECK_THROWS_AS(to_payload_line(event), InvalidEvent);
}

}  // namespace
}  // namespace waybill::test
