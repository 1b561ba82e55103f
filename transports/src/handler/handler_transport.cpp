#include <chrono>
#include <utility>

#include "waybill/transports/handler.hpp"

namespace waybill {
namespace {

constexpr const char* kEveryOtherType = "*";

class HandlerTransport final : public ITransport {
 public:
  explicit HandlerTransport(std::shared_ptr<const HandlerMap> handlers) : handlers_(std::move(handlers)) {}

  [[nodiscard]] std::vector<Outcome> deliver(std::span<const Event> events, Duration budget) override {
    const auto deadline = std::chrono::steady_clock::now() + budget;
    std::vector<Outcome> outcomes;
    outcomes.reserve(events.size());
    StoppedAggregates stopped;
    for (const Event& event : events) {
      // A handler can't be interrupted; the next one is not started once the time is up.
      if (stopped.contains(event))
        outcomes.push_back(Outcome::not_attempted("an earlier event of its aggregate was not delivered"));
      else if (std::chrono::steady_clock::now() >= deadline)
        outcomes.push_back(Outcome::not_attempted("the time for this batch was up"));
      else
        outcomes.push_back(handle(event));
      if (outcomes.back().kind != Outcome::Kind::delivered) stopped.stop(event);
    }
    return outcomes;
  }

 private:
  [[nodiscard]] Outcome handle(const Event& event) const {
    const HandlerMap::Handler* handler = handlers_->find(event.event_type);
    if (handler == nullptr) return Outcome::rejected("no handler for event type '" + event.event_type + "'");
    try {
      (*handler)(event);
      return Outcome::delivered();
    } catch (const RejectEvent& error) {
      return Outcome::rejected(error.what());
    } catch (const std::exception& error) {
      return Outcome::retry(error.what());
    } catch (...) {
      return Outcome::retry("the handler threw something that is no std::exception");
    }
  }

  std::shared_ptr<const HandlerMap> handlers_;
};

}  // namespace

void HandlerMap::add(const std::string& event_type, Handler handler) {
  if (!handler) throw ConfigError("the handler for event type '" + event_type + "' is empty");
  if (!handlers_.emplace(event_type, std::move(handler)).second)
    throw ConfigError("event type '" + event_type + "' has a handler already");
}

const HandlerMap::Handler* HandlerMap::find(const std::string& event_type) const {
  auto found = handlers_.find(event_type);
  if (found == handlers_.end()) found = handlers_.find(kEveryOtherType);
  return found == handlers_.end() ? nullptr : &found->second;
}

std::unique_ptr<ITransport> make_handler_transport(std::shared_ptr<const HandlerMap> handlers) {
  if (!handlers) throw ConfigError("handler: needs a table of handlers");
  return std::make_unique<HandlerTransport>(std::move(handlers));
}

}  // namespace waybill
