#include "samples.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace waybill::bench {

std::string event_number(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "EVT%017" PRIu64, number % 100'000'000'000'000'000U);
  return text.data();
}

std::uint64_t number_of(const std::string& event_no) {
  return event_no.size() > 3 ? std::stoull(event_no.substr(3)) : 0;
}

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t Samples::random() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

NewEvent Samples::one() { return of_aggregate("order-" + std::to_string(random() % kAggregates)); }

NewEvent Samples::of_aggregate(std::string aggregate_id) {
  NewEvent event;
  event.event_no = event_number(next_++);
  event.aggregate_type = "ORDER";
  event.aggregate_id = std::move(aggregate_id);
  event.event_type = "ORDER_CREATED";
  event.event_source = "order-service";
  event.topic = "order.created";
  std::array<char, 120> head{};
  std::snprintf(head.data(), head.size(),
                R"({"order":"%s","customer":%u,"total_cents":%u,"currency":"EUR","paid":true,"note":")",
                event.event_no.c_str(), 10'000U + static_cast<unsigned>(random() % 90'000U),
                10'000U + static_cast<unsigned>(random() % 90'000U));
  event.event_payload = head.data();
  event.event_payload.append(kPayloadBytes - 2 - event.event_payload.size(), 'n');
  event.event_payload += "\"}";
  return event;
}

std::vector<NewEvent> Samples::many(std::size_t count) {
  std::vector<NewEvent> events;
  events.reserve(count);
  for (std::size_t i = 0; i < count; ++i) events.push_back(one());
  return events;
}

}  // namespace waybill::bench
