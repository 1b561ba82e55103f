#include "waybill/event.hpp"

#include <nlohmann/json.hpp>

#include "waybill/codec.hpp"

namespace waybill {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames{"pending", "in_progress", "succeeded", "failed", "cancelled"};

bool same_json(const std::string& a, const std::string& b) { return a == b || json_equal(a, b); }

/// The headers as a repeated call must give them; no headers are the same as empty ones.
nlohmann::json lasting_headers(const std::optional<std::string>& headers) {
  if (!headers.has_value() || !is_json_object(*headers)) return nlohmann::json::object();
  nlohmann::json object = nlohmann::json::parse(*headers);
  object.erase("traceparent");
  object.erase("tracestate");
  return object;
}

bool same_headers(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  if (a == b) return true;
  // A foreign writer's column may hold anything; only objects can be compared loosely.
  if ((a.has_value() && !is_json_object(*a)) || (b.has_value() && !is_json_object(*b))) return false;
  return lasting_headers(a) == lasting_headers(b);
}

}  // namespace

std::string_view to_string(Status status) noexcept {
  const auto number = static_cast<std::size_t>(status);
  return number < kStatusNames.size() ? kStatusNames[number] : "unknown";
}

std::optional<Status> parse_status(std::string_view text) noexcept {
  for (const Status status : kAllStatuses)
    if (to_string(status) == text) return status;
  return std::nullopt;
}

std::string content_difference(const EventContent& a, const EventContent& b) {
  if (a.event_no != b.event_no) return "event_no";
  if (a.aggregate_type != b.aggregate_type) return "aggregate_type";
  if (a.aggregate_id != b.aggregate_id) return "aggregate_id";
  if (a.event_type != b.event_type) return "event_type";
  if (a.event_version != b.event_version) return "event_version";
  if (a.event_source != b.event_source) return "event_source";
  if (a.publish_channel != b.publish_channel) return "publish_channel";
  if (a.topic != b.topic) return "topic";
  if (a.routing_key != b.routing_key) return "routing_key";
  if (!same_json(a.event_payload, b.event_payload)) return "event_payload";
  if (!same_headers(a.event_headers, b.event_headers)) return "event_headers";
  return {};
}

}  // namespace waybill
