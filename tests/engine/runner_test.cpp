// Threads around the relay; real time, but no test waits for a length of time.

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

#include "engine/engine_fixture.hpp"
#include "support/forwarding_repository.hpp"
#include "support/process.hpp"
#include "waybill/relay_runner.hpp"

namespace waybill::test {
namespace {

/// Thread-safe: what all workers delivered, and a gate that deliveries may have to pass.
struct Sink {
  std::mutex mutex;
  std::condition_variable moved;
  std::multiset<std::string> delivered;
  std::size_t waiting{0};
  bool closed{false};
  std::string finished;

  void close() {
    const std::lock_guard lock(mutex);
    closed = true;
  }
  void open() {
    const std::lock_guard lock(mutex);
    closed = false;
    moved.notify_all();
  }
  [[nodiscard]] std::size_t size() {
    const std::lock_guard lock(mutex);
    return delivered.size();
  }
  [[nodiscard]] bool somebody_waits() {
    const std::lock_guard lock(mutex);
    return waiting > 0;
  }
};

class SinkTransport final : public ITransport {
 public:
  explicit SinkTransport(Sink& sink) : sink_(sink) {}
  std::vector<Outcome> deliver(std::span<const Event> events, Duration) override {
    std::unique_lock lock(sink_.mutex);
    ++sink_.waiting;
    sink_.moved.wait(lock, [&] { return !sink_.closed; });
    --sink_.waiting;
    if (!sink_.finished.empty()) return std::vector<Outcome>(events.size(), Outcome::unavailable(sink_.finished));
    for (const Event& event : events) sink_.delivered.insert(event.event_no);
    return std::vector<Outcome>(events.size(), Outcome::delivered());
  }
  std::string finished() const override {
    const std::lock_guard lock(sink_.mutex);
    return sink_.finished;
  }

 private:
  Sink& sink_;
};

class Running {
 protected:
  Running() { options.relay.claim.owner = "runner"; }

  RelayRunner make_runner() {
    return RelayRunner([this] { return open ? open() : make_memory_repository(database); },
                       [this] {
                         std::vector<Route> routes;
                         routes.push_back(Route{RoutePattern{}, "sink", std::make_unique<SinkTransport>(sink)});
                         return routes;
                       },
                       options, telemetry);
  }
  void append(int count) {
    const auto store = make_memory_repository(database);
    for (int number = 0; number < count; ++number) {
      const NewEvent event = make_event("e" + std::to_string(next++));
      REQUIRE(store->append(std::span(&event, 1)).front().status == AppendStatus::inserted);
    }
  }
  [[nodiscard]] Stats stats() const { return make_memory_repository(database)->stats({}); }

  std::shared_ptr<MemoryDatabase> database = make_memory_database();
  std::function<std::unique_ptr<IEventRepository>()> open;
  Sink sink;
  RunnerOptions options;
  NoTelemetry telemetry;
  int next{0};
};

TEST_CASE_METHOD(Running, "a drain ends when nothing is left, and nothing is delivered twice by four workers") {
  append(500);
  options.workers = 4;
  options.relay.claim.limit = 7;
  options.drain = true;
  RelayRunner runner = make_runner();
  const RunSummary summary = runner.run();
  REQUIRE(summary.total.delivered == 500);
  REQUIRE(std::set(sink.delivered.begin(), sink.delivered.end()).size() == 500);
  REQUIRE(sink.delivered.size() == 500);
  REQUIRE(stats().of(Status::succeeded) == 500);
}

TEST_CASE_METHOD(Running, "a waiting relay sees a new event long before its poll, and stops at once") {
  options.poll = 10min;
  RelayRunner runner = make_runner();
  std::thread running([&] { (void)runner.run(); });
  append(1);
  REQUIRE(eventually([&] { return sink.size() == 1; }));
  append(1);
  REQUIRE(eventually([&] { return sink.size() == 2; }));
  runner.stop();
  running.join();
  REQUIRE(stats().of(Status::succeeded) == 2);
}

TEST_CASE_METHOD(Running, "a stop lets the delivery under way end and settles it") {
  append(3);
  options.relay.claim.limit = 1;
  sink.close();
  RelayRunner runner = make_runner();
  RunSummary summary;
  std::thread running([&] { summary = runner.run(); });
  REQUIRE(eventually([&] { return sink.somebody_waits(); }));
  runner.stop();
  sink.open();
  running.join();
  REQUIRE_FALSE(summary.stuck);
  REQUIRE(summary.total.delivered == 1);
  REQUIRE(stats().of(Status::succeeded) == 1);
  REQUIRE(stats().of(Status::pending) == 2);
  REQUIRE(stats().of(Status::in_progress) == 0);
}

TEST_CASE_METHOD(Running, "a delivery that does not end gives its events back after the deadline") {
  append(1);
  options.shutdown_deadline = 50ms;
  sink.close();
  RelayRunner runner = make_runner();
  RunSummary summary;
  std::thread running([&] { summary = runner.run(); });
  REQUIRE(eventually([&] { return sink.somebody_waits(); }));
  runner.stop();
  running.join();
  REQUIRE(summary.stuck);
  REQUIRE(stats().of(Status::pending) == 1);
  sink.open();  // the destructor waits for the worker
}

TEST_CASE_METHOD(Running, "the heartbeat keeps a slow delivery's lease") {
  append(1);
  options.relay.claim.lease = 60ms;
  options.relay.delivery_budget = 50ms;
  options.relay.recovery_interval = 1ms;
  options.workers = 2;  // the other one looks for expired leases all the time
  options.poll = 5ms;
  sink.close();
  RelayRunner runner = make_runner();
  RunSummary summary;
  std::thread running([&] { summary = runner.run(); });
  REQUIRE(eventually([&] { return sink.somebody_waits(); }));
  const auto store = make_memory_repository(database);
  const Timestamp first = *store->find("e0")->lock_until;
  REQUIRE(eventually([&] { return *store->find("e0")->lock_until > first + 300ms; }));
  sink.open();
  REQUIRE(eventually([&] { return stats().of(Status::succeeded) == 1; }));
  runner.stop();
  running.join();
  REQUIRE(summary.total.recovered == 0);
  REQUIRE(summary.total.fenced == 0);
  REQUIRE(sink.delivered.size() == 1);
}

/// Every third claim or exchange fails.
class ShakyRepository final : public ForwardingRepository {
 public:
  using ForwardingRepository::ForwardingRepository;
  ClaimResult claim(const ClaimRequest& request) override {
    shake();
    return inner_->claim(request);
  }
  ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request) override {
    shake();
    return inner_->exchange(settlements, request);
  }

 private:
  void shake() {
    if (++calls_ % 3 == 0) throw StorageError(ErrorCode::busy, "database is locked");
  }
  int calls_{0};
};

TEST_CASE_METHOD(Running, "the loop never dies of a store error") {
  append(10);
  options.relay.claim.limit = 2;
  options.drain = true;
  open = [this] { return std::make_unique<ShakyRepository>(make_memory_repository(database)); };
  RelayRunner runner = make_runner();
  const RunSummary summary = runner.run();
  REQUIRE(summary.total.delivered == 10);
  REQUIRE(summary.store_error.empty());
  REQUIRE(stats().of(Status::succeeded) == 10);
}

class BrokenRepository final : public ForwardingRepository {
 public:
  using ForwardingRepository::ForwardingRepository;
  ClaimResult claim(const ClaimRequest&) override { throw StorageError(ErrorCode::corrupt, "malformed"); }
};

TEST_CASE_METHOD(Running, "a drain ends on an error that waiting can't mend") {
  options.drain = true;
  open = [this] { return std::make_unique<BrokenRepository>(make_memory_repository(database)); };
  RelayRunner runner = make_runner();
  REQUIRE(runner.run().store_error == "malformed");
}

TEST_CASE_METHOD(Running, "a destination that is gone for good ends the run and loses nothing") {
  append(5);
  options.poll = 10min;
  sink.finished = "the reader is gone";
  RelayRunner runner = make_runner();
  const RunSummary summary = runner.run();
  REQUIRE(summary.finished == "the reader is gone");
  REQUIRE(stats().of(Status::pending) == 5);
}

/// Counts the looks for expired leases: one a step.
class CountingRepository final : public ForwardingRepository {
 public:
  CountingRepository(std::unique_ptr<IEventRepository> inner, std::atomic<int>& waits)
      : ForwardingRepository(std::move(inner)), waits_(waits) {}
  bool wait_for_work(Duration timeout) override {
    ++waits_;
    return inner_->wait_for_work(timeout);
  }
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override {
    if (!settlements.empty()) settled = true;
    return inner_->settle(settlements);
  }
  static inline std::atomic<bool> settled{false};

 private:
  std::atomic<int>& waits_;
};

TEST_CASE_METHOD(Running, "a relay whose only destination is down rests until the next probe") {
  append(5);
  options.poll = 10min;
  std::atomic<int> waits{0};
  CountingRepository::settled = false;
  open = [&] { return std::make_unique<CountingRepository>(make_memory_repository(database), waits); };
  RelayRunner runner([this] { return open(); },
                     [] {
                       auto destination = std::make_shared<Destination>();
                       destination->answer = [](auto events) {
                         return std::vector<Outcome>(events.size(), Outcome::unavailable("down"));
                       };
                       std::vector<Route> routes;
                       routes.push_back(make_route("*", destination));
                       return routes;
                     },
                     options, telemetry);
  std::thread running([&] { (void)runner.run(); });
  REQUIRE(eventually([] { return CountingRepository::settled.load(); }));
  append(5);  // news that it can do nothing about
  REQUIRE(stats().of(Status::pending) == 10);
  runner.stop();
  running.join();
  REQUIRE(waits < 10);
}

TEST_CASE("SIGTERM and SIGINT call back while StopOnSignals lives") {
  std::atomic<int> last{0};
  {
    const StopOnSignals signals([&](int number) { last = number; });
    REQUIRE(::kill(::getpid(), SIGTERM) == 0);
    REQUIRE(eventually([&] { return last == SIGTERM; }));
    REQUIRE(::kill(::getpid(), SIGINT) == 0);
    REQUIRE(eventually([&] { return last == SIGINT; }));
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  REQUIRE(sigismember(&blocked, SIGTERM) == 0);
}

}  // namespace
}  // namespace waybill::test
