#include "audit.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace waybill::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kLineStart = R"({"id":)";
constexpr const char* kNumberKey = R"("event_no":")";

std::optional<Delivery> parse_line(const std::string& line) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Delivery delivery;
  delivery.event_no = object.at("event_no");
  delivery.aggregate_id = object.at("aggregate_id");
  delivery.id = std::stoll(object.at("id").get<std::string>());
  delivery.version = object.at("version");
  delivery.owner = object.at("locked_by");
  delivery.claimed_at = object.at("last_publish_time");
  delivery.payload = object.at("event_payload");
  return delivery;
}

/// The line that another relay wrote behind a torn one.
std::optional<Delivery> parse_glued(const std::string& line) {
  for (std::size_t at = line.find(kLineStart, 1); at != std::string::npos; at = line.find(kLineStart, at + 1))
    if (auto delivery = parse_line(line.substr(at))) return delivery;
  return std::nullopt;
}

std::string number_in(const std::string& torn) {
  const std::size_t key = torn.find(kNumberKey);
  if (key == std::string::npos) return {};
  const std::size_t start = key + std::string{kNumberKey}.size();
  const std::size_t end = torn.find('"', start);
  return end == std::string::npos ? std::string{} : torn.substr(start, end - start);
}

std::string describe(const Delivery& delivery) {
  return delivery.event_no + " (id " + std::to_string(delivery.id) + ", claim " + std::to_string(delivery.version) +
         " by " + delivery.owner + " at " + delivery.claimed_at + ")";
}

}  // namespace

Output read_output(const std::string& text, bool shared) {
  Output output;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    const std::string line = text.substr(start, end - start);
    start = end + 1;
    auto delivery = parse_line(line);
    if (!delivery && shared) {
      delivery = parse_glued(line);
      ++output.glued;
    }
    if (!delivery) throw std::runtime_error("a torn line that is not the last one: " + line);
    output.deliveries.push_back(std::move(*delivery));
  }
  output.torn_end = start < text.size();
  output.torn_event_no = number_in(text.substr(start));
  return output;
}

std::set<std::string> numbers_of(const std::vector<Delivery>& deliveries) {
  std::set<std::string> numbers;
  for (const Delivery& delivery : deliveries) numbers.insert(delivery.event_no);
  return numbers;
}

std::size_t count_repeats(const std::vector<Delivery>& deliveries) {
  return deliveries.size() - numbers_of(deliveries).size();
}

std::vector<std::string> order_breaks(const std::vector<Delivery>& deliveries) {
  std::map<std::string, std::set<std::int64_t>> waiting;  // per aggregate: not delivered so far
  for (const Delivery& delivery : deliveries) waiting[delivery.aggregate_id].insert(delivery.id);
  std::vector<std::string> breaks;
  for (const Delivery& delivery : deliveries) {
    std::set<std::int64_t>& ids = waiting[delivery.aggregate_id];
    ids.erase(delivery.id);
    if (!ids.empty() && *ids.begin() < delivery.id)
      breaks.push_back(describe(delivery) + " came before id " + std::to_string(*ids.begin()));
  }
  return breaks;
}

std::vector<std::string> repeats_within_a_claim(const std::vector<Delivery>& deliveries) {
  std::set<std::pair<std::int64_t, std::int32_t>> claims;
  std::vector<std::string> repeats;
  for (const Delivery& delivery : deliveries)
    if (!claims.emplace(delivery.id, delivery.version).second) repeats.push_back(describe(delivery));
  return repeats;
}

std::vector<std::string> differences(const std::vector<Delivery>& deliveries,
                                     const std::map<std::string, Json>& input) {
  std::vector<std::string> found;
  for (const Delivery& delivery : deliveries) {
    const auto event = input.find(delivery.event_no);
    if (event == input.end())
      found.push_back(describe(delivery) + " was never put");
    else if (event->second.at("event_payload") != delivery.payload ||
             event->second.at("aggregate_id") != delivery.aggregate_id)
      found.push_back(describe(delivery) + " is not what was put");
  }
  return found;
}

std::vector<Delivery> unrecorded(const std::vector<Delivery>& deliveries) {
  std::map<std::int64_t, std::int32_t> last_claim;
  for (const Delivery& delivery : deliveries)
    last_claim[delivery.id] = std::max(last_claim[delivery.id], delivery.version);
  std::vector<Delivery> found;
  std::copy_if(deliveries.begin(), deliveries.end(), std::back_inserter(found),
               [&](const Delivery& delivery) { return delivery.version < last_claim[delivery.id]; });
  return found;
}

}  // namespace waybill::test
