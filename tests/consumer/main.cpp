// A program outside the project: both stores, a transport scheme of its own, a handler, a relay it drives itself.

#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "waybill/backends/builtin.hpp"
#include "waybill/relay.hpp"
#include "waybill/transports/builtin.hpp"

namespace {

using Seen = std::vector<std::string>;  // event numbers in order of delivery

/// `mailbox:` keeps event numbers in a list of the program's.
class MailboxTransport final : public waybill::ITransport {
 public:
  explicit MailboxTransport(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}

  std::vector<waybill::Outcome> deliver(std::span<const waybill::Event> events, waybill::Duration) override {
    std::vector<waybill::Outcome> outcomes;
    for (const waybill::Event& event : events) {
      seen_->push_back(event.event_no);
      outcomes.push_back(waybill::Outcome::delivered());
    }
    return outcomes;
  }

 private:
  std::shared_ptr<Seen> seen_;
};

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("not so: " + what);
}

waybill::NewEvent make_event(const std::string& number, const std::string& topic) {
  waybill::NewEvent event;
  event.event_no = number;
  event.aggregate_type = "ORDER";
  event.aggregate_id = "1";
  event.event_type = "ORDER_PLACED";
  event.topic = topic;
  event.event_payload = R"({"order":1})";
  return event;
}

waybill::Route make_route(const waybill::TransportRegistry& transports, const std::string& pattern,
                          const std::string& url) {
  waybill::Route route;
  route.pattern = waybill::RoutePattern::parse(pattern);
  route.name = pattern + "=" + url;
  route.transport = transports.open(url);
  return route;
}

void deliver_all(waybill::IEventRepository& store, std::vector<waybill::Route> routes) {
  waybill::RelayOptions options;
  options.claim.owner = "consumer";
  options.claim.ordering = waybill::Ordering::aggregate;
  waybill::NoTelemetry telemetry;
  waybill::Relay relay(
      store, std::move(routes), options, [] { return 0.0; }, telemetry);
  std::size_t delivered = 0;
  for (int round = 0; round < 10; ++round) {
    const waybill::StepResult step = relay.step();
    delivered += step.delivered;
    if (!step.more && relay.settled()) break;
  }
  require(delivered == 3, "three events delivered, " + std::to_string(delivered) + " were");
}

void use_store(const std::string& url) {
  const auto in_mailbox = std::make_shared<Seen>();
  const auto in_handler = std::make_shared<Seen>();

  const auto handlers = std::make_shared<waybill::HandlerMap>();
  handlers->add("ORDER_PLACED", [in_handler](const waybill::Event& event) { in_handler->push_back(event.event_no); });
  waybill::TransportRegistry transports("transport");
  waybill::register_builtin_transports(transports, handlers);
  const auto open_mailbox = [in_mailbox](const waybill::Url&, const waybill::OpenContext&) {
    return std::make_unique<MailboxTransport>(in_mailbox);
  };
  transports.add("mailbox", {open_mailbox, "mailbox:", "keeps event numbers in memory"});

  waybill::BackendRegistry stores("store");
  waybill::register_builtin_backends(stores);
  waybill::OpenContext context;
  context.mode = waybill::OpenMode::create;
  const std::unique_ptr<waybill::IEventRepository> store = stores.open(url, context);

  const std::vector<waybill::NewEvent> events{make_event("1", "mail"), make_event("2", "bus"), make_event("3", "mail")};
  for (const waybill::AppendResult& result : store->append(events))
    require(result.status == waybill::AppendStatus::inserted, "a new event is inserted");
  for (const waybill::AppendResult& result : store->append(events))
    require(result.status == waybill::AppendStatus::duplicate, "the same event again is a duplicate");

  std::vector<waybill::Route> routes;
  routes.push_back(make_route(transports, "mail", "mailbox:"));
  routes.push_back(make_route(transports, "*", "handler:"));
  deliver_all(*store, std::move(routes));

  require(*in_mailbox == Seen{"1", "3"}, "the mailbox has 1 and 3");
  require(*in_handler == Seen{"2"}, "the handler has 2");
  require(store->stats({}).of(waybill::Status::succeeded) == 3, "three events succeeded");
  std::cout << url.substr(0, url.find(':')) << ": 3 events appended and delivered\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer FILE   (a new SQLite file)\n";
    return 2;
  }
  try {
    use_store("memory:");
    use_store(std::string("sqlite:") + argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "consumer: " << error.what() << "\n";
    return 1;
  }
}
