#pragma once
// A running relay says so when events wait that no route of it takes.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "session.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::cli {

/// Logs one warning with their number when there are some.
void warn_unroutable(IEventQueries& store, const RouteFilter& routes, const LogSink& log);

/// Looks every minute on a thread and a connection of its own, until destroyed.
class UnroutableWatch {
 public:
  UnroutableWatch(const Session& session, RouteFilter routes);
  ~UnroutableWatch();
  UnroutableWatch(const UnroutableWatch&) = delete;
  UnroutableWatch& operator=(const UnroutableWatch&) = delete;

 private:
  void loop();
  [[nodiscard]] bool rest();

  const Session& session_;
  RouteFilter routes_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_{false};
  std::thread thread_;
};

}  // namespace waybill::cli
