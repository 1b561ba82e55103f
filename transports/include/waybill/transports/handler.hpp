#pragma once
// Delivery to C++ functions of this process: the EVENT_BUS channel.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "waybill/transport.hpp"

namespace waybill {

/// Thrown by a handler: this event can never be handled. Any other std::exception means "try again".
class RejectEvent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Event type -> function. A plain value; thread-compatible. With several relay workers the functions are called from
/// several threads.
class HandlerMap {
 public:
  using Handler = std::function<void(const Event&)>;
  /// Throws ConfigError when the type has a handler already. The type "*" takes what no other handler does.
  void add(const std::string& event_type, Handler handler);
  [[nodiscard]] const Handler* find(const std::string& event_type) const;
  [[nodiscard]] bool empty() const { return handlers_.empty(); }

 private:
  std::map<std::string, Handler, std::less<>> handlers_;
};

/// A type without a handler is rejected. An exception is an outcome, never an end.
[[nodiscard]] std::unique_ptr<ITransport> make_handler_transport(std::shared_ptr<const HandlerMap> handlers);

}  // namespace waybill
