#pragma once
// Four putters and two relays on one store, killed and frozen at random moments, as may be the store's server, and the
// audit of what came of it.

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "crash/audit.hpp"
#include "crash/chance.hpp"
#include "crash/site.hpp"
#include "support/process.hpp"

namespace waybill::test {

struct TurmoilPlan {
  std::string order{"none"};
  int rounds{60};             ///< each ends with a fault
  bool shared_output{false};  ///< all relays append to one file, which then has the one true order of deliveries
  int freeze_percent{0};      ///< share of the faults that stop a relay for longer than its lease instead of killing it
  /// Transactions run side by side there. Order is promised to those who write an aggregate one after the other, so
  /// each putter has aggregates of its own; and the statements of one claim differ in their time.
  bool on_server{false};
  int server_dies_every{0};  ///< in rounds, beginning with the second; needs a server. 0: never
};

/// What a server that dies is made to do.
struct MortalServer {
  std::function<void()> kill;   ///< SIGKILL; returns when it is gone
  std::function<void()> start;  ///< returns when it has recovered and answers
};

class Turmoil {
 public:
  Turmoil(TurmoilPlan plan, Chance& chance, Site& site, MortalServer server = {});
  ~Turmoil();
  Turmoil(const Turmoil&) = delete;
  Turmoil& operator=(const Turmoil&) = delete;

  void run_rounds();
  /// No more faults: the putters end, the relays deliver what is left and stop.
  void settle_down();
  void audit();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// One life of a relay.
  struct Life {
    std::string owner;
    unsigned workers{1};
    bool killed{false};
    std::size_t servers_killed{0};  ///< before it was started
  };
  struct Relay {
    std::unique_ptr<Process> process;
    std::size_t life{0};
    std::optional<SteadyTime> frozen_until;
  };
  /// A file for `put`. Killed puts may have written whole batches of it, in order.
  struct Chunk {
    std::string name;
    std::vector<std::string> numbers;
    int attempts{0};
    std::size_t reported{0};  ///< lines that a put said to be in the store before it failed
    bool accepted{false};     ///< a put of it ended well
  };
  struct Putter {
    std::unique_ptr<Process> process;
    std::size_t chunk{0};
    std::size_t servers_killed{0};  ///< before the process was started
  };

  void start_what_is_missing();
  void start(Relay& relay);
  void start(Putter& putter, std::size_t chunk);
  void collect(Putter& putter);
  void put_again(Putter& putter);
  [[nodiscard]] std::size_t new_chunk(std::size_t putter);
  void strike();
  void strike_server();
  [[nodiscard]] bool never_began(Relay& relay);
  void wait_for_a_moment(const Relay& victim);
  void kill(Relay& relay);
  void kill(Putter& putter);
  void freeze(Relay& relay);
  void thaw(bool all);
  void check_books();
  [[nodiscard]] bool anybody_frozen() const;
  [[nodiscard]] std::string describe_relays() const;
  [[nodiscard]] std::filesystem::path output_of(const Life& life) const;

  [[nodiscard]] std::vector<Delivery> read_outputs();
  void audit_puts(const std::vector<Delivery>& deliveries);
  void audit_repeats(const std::vector<Delivery>& deliveries);
  void audit_books(std::size_t delivered);
  [[nodiscard]] bool is_of_last_claim(const Delivery& lost, const std::vector<Delivery>& deliveries) const;
  [[nodiscard]] const Life& life_of(const std::string& owner) const;

  TurmoilPlan plan_;
  Chance& chance_;
  Site& site_;
  MortalServer server_;
  int shared_fd_{-1};
  std::vector<Relay> relays_;
  std::vector<Putter> putters_;
  std::vector<Life> lives_;
  std::vector<Chunk> chunks_;
  std::map<std::string, nlohmann::json> input_;
  std::uint64_t accepted_so_far_{0};
  struct {
    std::size_t relays_killed{0}, puts_killed{0}, puts_cut{0}, frozen{0}, repeats{0}, torn{0};
    std::size_t servers_killed{0}, puts_failed{0};
  } counts_;
};

}  // namespace waybill::test
