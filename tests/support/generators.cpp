#include "support/generators.hpp"

#include <nlohmann/json.hpp>

namespace waybill::test {
namespace {

std::string space() { return *text_of(" \t\n\r", 0, 2); }

std::string any_string() {
  return *rc::gen::weightedOneOf<std::string>(
      {{4, rc::gen::map(any_text(0, 12), [](const std::string& text) { return nlohmann::json(text).dump(); })},
       {1, rc::gen::element<std::string>(R"("")", R"("\u0000")", R"("\u00e9\ud83d\ude00")", R"("\/\b\f\n\r\t\"\\")")}});
}

std::string any_number() {
  return *rc::gen::weightedOneOf<std::string>(
      {{3, rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t n) { return std::to_string(n); })},
       {1, rc::gen::element<std::string>("0", "-0", "1.0", "1e2", "1E+2", "-1.5e-300", "0.10", "18446744073709551615",
                                         "18446744073709551616", "123456789012345678901234567890", "1e-999")}});
}

std::string any_list(int depth, char open, char close) {
  std::string text{open};
  text += space();
  const int size = *rc::gen::inRange(0, 4);
  for (int member = 0; member < size; ++member) {
    if (member > 0) text += "," + space();
    // The number makes the keys differ.
    if (open == '{') text += R"("k)" + std::to_string(member) + any_string().substr(1) + space() + ":" + space();
    text += any_json(depth - 1) + space();
  }
  return text + close;
}

template <class Value>
std::optional<Value> maybe(const rc::Gen<Value>& gen) {
  return *rc::gen::arbitrary<bool>() ? std::optional<Value>{*gen} : std::nullopt;
}

}  // namespace

std::string any_json(int depth) {
  switch (*rc::gen::inRange(0, depth > 1 ? 6 : 4)) {
    case 0:
      return *rc::gen::element<std::string>("null", "true", "false");
    case 1:
      return any_number();
    case 4:
      return any_list(depth, '[', ']');
    case 5:
      return any_list(depth, '{', '}');
    default:
      return any_string();
  }
}

std::string any_headers() { return any_list(3, '{', '}'); }

NewEvent any_event() {
  NewEvent event;
  event.event_no = *any_text(1, 64);
  event.aggregate_type = *any_text(1, 64);
  event.aggregate_id = *any_text(1, 64);
  event.event_type = *any_text(1, 64);
  event.event_version = *rc::gen::arbitrary<std::int32_t>();
  event.event_source = *any_text(1, 64);
  event.publish_channel = *any_text(1, 32);
  event.topic = maybe(any_text(0, 128));
  event.routing_key = maybe(any_text(0, 128));
  event.event_payload = any_json(4);
  if (*rc::gen::arbitrary<bool>()) event.event_headers = any_headers();
  event.trace_id = maybe(any_text(0, 128));
  event.remark = maybe(any_text(0, 500));
  event.max_retry_count = *rc::gen::inRange(0, 10);
  event.next_retry_time = maybe(any_time());
  event.create_time = maybe(any_time());
  return event;
}

}  // namespace waybill::test
