#pragma once
// Claimed events as a relay hands them to a transport.

#include <cstddef>
#include <string>
#include <vector>

#include "waybill/event.hpp"

namespace waybill::test {

inline Event sample_event(const std::string& event_no, const std::string& aggregate_id,
                          const std::string& payload = R"({"amount":12})") {
  Event event;
  event.event_no = event_no;
  event.aggregate_type = "ORDER";
  event.aggregate_id = aggregate_id;
  event.event_type = "ORDER_PAID";
  event.event_source = "shop";
  event.topic = "order.paid";
  event.event_payload = payload;
  event.publish_status = Status::in_progress;
  event.id = 7;
  event.create_time = Timestamp{std::chrono::seconds{1700000000}};
  return event;
}

/// `count` events of as many aggregates.
inline std::vector<Event> sample_events(std::size_t count, const std::string& payload = R"({"amount":12})") {
  std::vector<Event> events;
  for (std::size_t index = 0; index < count; ++index) {
    const std::string number = std::to_string(index);
    events.push_back(sample_event("E" + number, "A" + number, payload));
  }
  return events;
}

}  // namespace waybill::test
