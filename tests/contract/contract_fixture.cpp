#include "contract/contract_fixture.hpp"

namespace waybill::test {
namespace {

const StoreKind& each_of(const std::vector<StoreKind>& kinds) {
  // The size as a variable of its own: GENERATE keeps what it is given by reference.
  const std::size_t count = kinds.size();
  return kinds[GENERATE_COPY(range(std::size_t{0}, count))];
}

}  // namespace

NewEvent make_event(std::string event_no) { return make_event(event_no, "id-" + event_no); }

NewEvent make_event(std::string event_no, std::string aggregate_id) {
  NewEvent event;
  event.event_no = std::move(event_no);
  event.aggregate_type = "ORDER";
  event.aggregate_id = std::move(aggregate_id);
  event.event_type = "ORDER_CREATED";
  event.topic = "order.event";
  event.event_payload = R"({"amount":199})";
  return event;
}

ClaimRequest ordered_request(std::size_t limit, DeadHead dead_head) {
  ClaimRequest request = claim_request(limit);
  request.ordering = Ordering::aggregate;
  request.dead_head = dead_head;
  return request;
}

Contract::Contract(const std::vector<StoreKind>& kinds)
    : kind_(&each_of(kinds)),
      name_(Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
            << "store: " << kind_->name) {
  restart({});
}

void Contract::restart(const StoreSettings& settings) {
  store.reset();
  database = kind_->make(settings);
  store = database->open();
}

void Contract::reopen() {
  store.reset();
  store = database->open();
}

AppendResult Contract::append(const NewEvent& event) {
  const auto results = store->append({&event, 1});
  REQUIRE(results.size() == 1);
  return results.front();
}

void Contract::append(std::initializer_list<const char*> event_nos) {
  std::vector<NewEvent> events;
  for (const char* event_no : event_nos) events.push_back(make_event(event_no));
  for (const AppendResult& result : store->append(events)) REQUIRE(result.status == AppendStatus::inserted);
}

void Contract::append_many(std::string_view prefix, int first, int last, std::optional<Timestamp> due) {
  std::vector<NewEvent> events;
  for (int i = first; i <= last; ++i) {
    events.push_back(make_event(std::string(prefix) + std::to_string(i)));
    events.back().next_retry_time = due;
  }
  REQUIRE(store->append(events).size() == events.size());
}

std::vector<Event> Contract::claim(std::size_t limit, std::string owner) {
  return store->claim(claim_request(limit, std::move(owner))).events;
}

Event Contract::claim_one(const std::string& event_no) {
  const auto events = claim(1000);
  REQUIRE(numbers_of(events) == Numbers{event_no});
  return events.front();
}

SettleStatus Contract::settle(const Settlement& settlement) { return test::settle(*store, settlement); }

SettleStatus Contract::succeed(const Event& claimed) { return test::succeed(*store, claimed); }

SettleStatus Contract::fail(const Event& claimed, std::optional<Timestamp> next, std::string reason) {
  Settlement settlement = settlement_of(claimed, Command::fail);
  settlement.next_retry_time = next;
  settlement.reason = std::move(reason);
  return settle(settlement);
}

SettleStatus Contract::reject(const Event& claimed, std::string reason) {
  Settlement settlement = settlement_of(claimed, Command::reject);
  settlement.reason = std::move(reason);
  return settle(settlement);
}

SettleStatus Contract::release(const Event& claimed, std::optional<Timestamp> due) {
  Settlement settlement = settlement_of(claimed, Command::release);
  settlement.next_retry_time = due;
  return settle(settlement);
}

Event Contract::get(std::string_view event_no) {
  const std::optional<Event> event = store->find(event_no);
  INFO("looking for " << event_no);
  REQUIRE(event.has_value());
  return *event;
}

Event Contract::add_in(Status status, const std::string& event_no) { return add_in(status, make_event(event_no)); }

Event Contract::add_in(Status status, const NewEvent& event) {
  REQUIRE(append(event).status == AppendStatus::inserted);
  const std::string& event_no = event.event_no;
  EventFilter only;
  only.event_no = event_no;
  if (status == Status::cancelled) REQUIRE(store->cancel(only, "not wanted", 1) == 1);
  if (status == Status::in_progress) return claim_one(event_no);
  if (status == Status::succeeded) REQUIRE(succeed(claim_one(event_no)) == SettleStatus::applied);
  if (status == Status::failed) REQUIRE(fail(claim_one(event_no), now() + 1h) == SettleStatus::applied);
  return get(event_no);
}

Event Contract::add_dead(const std::string& event_no) {
  append({event_no.c_str()});
  REQUIRE(reject(claim_one(event_no)) == SettleStatus::applied);
  return get(event_no);
}

}  // namespace waybill::test
