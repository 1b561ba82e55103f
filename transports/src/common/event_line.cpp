#include "common/event_line.hpp"

#include "waybill/codec.hpp"

namespace waybill::transports {

LineFormat line_format(std::string_view name) {
  if (name == "event") return LineFormat::event;
  if (name == "payload") return LineFormat::payload;
  return LineFormat::cloudevents;
}

std::string encode_line(const Event& event, LineFormat format) {
  switch (format) {
    case LineFormat::cloudevents:
      return to_cloudevent(event);
    case LineFormat::payload:
      return to_payload_line(event);
    case LineFormat::event:
      break;
  }
  if (!is_valid_json(event.event_payload)) throw InvalidEvent("event_payload", "event_payload is not valid JSON");
  return to_json(event);
}

}  // namespace waybill::transports
