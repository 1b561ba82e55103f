#pragma once
// Two relays and an operator on one store, beside a model that knows what each event's state must be and what may be
// claimed. The model is plain: it looks at every event of an aggregate each time.

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backends/sqlite_fixture.hpp"

namespace waybill::test {

struct WorldOptions {
  std::uint64_t seed{0};
  int blocked_aggregates{40};  ///< in front; their heads are failed, dead or held
  int followers{60};           ///< of each
  int healthy_aggregates{30};  ///< behind them
  int healthy_events{15};      ///< of each
  Ordering ordering{Ordering::aggregate};
  DeadHead dead_head{DeadHead::block};
  bool change_routes{true};
  int topics{3};
  bool start_with_one_down{false};  ///< the first topic
  bool all_timed{false};            ///< every event starts as a retry or scheduled, in no order
};

class OrderedWorld {
 public:
  explicit OrderedWorld(const WorldOptions& options);

  /// One random command, checked against the model.
  void step();
  /// With nothing but claims and time, every event that the model says is claimable is claimed within three sweeps.
  void check_all_found();
  /// Settles, requeues and claims until no event is unsettled; it must come to an end.
  void drain();
  [[nodiscard]] int steps() const { return steps_; }
  /// What the random commands reached, so that a test can tell that it was not about nothing.
  [[nodiscard]] int claimed() const { return claimed_; }
  [[nodiscard]] int claims_that_stopped_early() const { return stopped_early_; }

 private:
  struct Relay {
    std::string owner;
    std::unique_ptr<IEventRepository> store;
    RouteFilter routes;
    std::vector<Event> held;
  };
  using Key = std::string;

  [[nodiscard]] int between(int low, int high);
  [[nodiscard]] bool percent(int share) { return between(1, 100) <= share; }
  [[nodiscard]] Timestamp now() const { return file_.clock->now(); }
  [[nodiscard]] static Key key_of(const Event& event) { return event.aggregate_id; }
  [[nodiscard]] std::string topic_of(int number) const { return "t" + std::to_string(number % options_.topics); }
  [[nodiscard]] Event& model(std::int64_t id) { return events_.at(id); }

  void append_events(std::vector<NewEvent> events);
  void append_aggregates(const std::string& prefix, int aggregates, int each);
  void block_fronts(int aggregates);
  void make_all_timed();
  [[nodiscard]] ClaimRequest request_of(const Relay& relay, std::size_t limit) const;
  /// Claims and checks; how many events came.
  std::size_t claim(Relay& relay, std::size_t limit, bool with_settlements);
  void check_claimed(Relay& relay, const ClaimRequest& request, const ClaimResult& result);
  [[nodiscard]] bool blocked(const Event& event, const std::set<std::int64_t>& taken_with_it) const;
  [[nodiscard]] bool may_be_claimed(const Event& event, const RouteFilter& routes) const;
  [[nodiscard]] std::vector<std::string> claimable(const RouteFilter& routes) const;
  /// Takes some of what the relay holds and decides about it.
  std::vector<Settlement> random_settlements(Relay& relay);
  void settled(Relay& relay, const std::vector<Settlement>& settlements, const std::vector<SettleStatus>& statuses);
  void settle_some(Relay& relay);
  void change_routes(Relay& relay);
  void operate();
  void succeed_all_held();

  WorldOptions options_;
  std::mt19937_64 engine_;
  StoreFile file_;
  std::array<Relay, 2> relays_;
  std::unique_ptr<IEventRepository> operator_;
  std::map<std::int64_t, Event> events_;              ///< the model
  std::map<Key, std::vector<std::int64_t>> members_;  ///< of each aggregate, in order
  int appended_{0};
  int steps_{0};
  int claimed_{0};
  int stopped_early_{0};
};

}  // namespace waybill::test
