#include "contract/describe.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

namespace waybill {
namespace {

std::string text(const std::optional<std::string>& value) { return value ? "'" + *value + "'" : "-"; }
std::string text(const std::optional<Timestamp>& value) { return value ? format_time(*value) : "-"; }

}  // namespace

std::ostream& operator<<(std::ostream& out, const Event& event) { return out << test::describe(event); }

std::string test::describe(const Event& event) {
  std::ostringstream out;
  out << event.event_no << " #" << event.id << ' ' << to_string(event.publish_status) << " v" << event.version
      << " retry " << event.retry_count << '/' << event.max_retry_count << " next " << text(event.next_retry_time)
      << " lock " << text(event.locked_by) << ' ' << text(event.lock_until) << " tried "
      << text(event.last_publish_time) << " published " << text(event.published_time) << " reason "
      << text(event.fail_reason) << " | " << event.aggregate_type << '/' << event.aggregate_id << ' '
      << event.event_type << " v" << event.event_version << " from " << event.event_source << " to "
      << event.publish_channel << ':' << text(event.topic) << " key " << text(event.routing_key) << " payload "
      << event.event_payload << " headers " << text(event.event_headers) << " trace " << text(event.trace_id)
      << " remark " << text(event.remark) << (event.deleted ? " deleted" : "") << (event.archived ? " archived" : "")
      << " created " << format_time(event.create_time) << " changed " << format_time(event.update_time);
  return out.str();
}

Event test::with_normal_json(Event event) {
  const auto normal = [](const std::string& json) { return nlohmann::json::parse(json).dump(); };
  event.event_payload = normal(event.event_payload);
  if (event.event_headers) event.event_headers = normal(*event.event_headers);
  return event;
}

}  // namespace waybill
