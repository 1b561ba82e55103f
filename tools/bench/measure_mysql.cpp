// What only a server shows: several relays at once, claims beside a long history, deadlocks.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "interrupt.hpp"
#include "measures.hpp"
#include "mysql_client.hpp"

namespace waybill::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kBatch = 100;
constexpr std::uint64_t kRowsAtOnce = 50'000;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

/// A database of its own for as long as the object lives.
class Place {
 public:
  Place(Context& context, const std::string& stem) : context_(context), file_(context.workspace.fresh(stem)) {
    context.store.create(file_);
  }
  ~Place() { context_.store.remove(file_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] std::unique_ptr<IEventRepository> open() const { return context_.store.open(file_); }
  [[nodiscard]] MysqlClient client() const { return MysqlClient(context_.store.mysql().url_of(file_)); }

  void append(std::uint64_t count) const {
    const auto repository = open();
    for (std::uint64_t done = 0; done < count; done += 1000) {
      check_interrupt();
      static_cast<void>(repository->append(context_.samples.many(std::min<std::uint64_t>(1000, count - done))));
    }
  }

  /// Rows by SQL, numbered from `first` on: `aggregate` and `state` (publish_status, retry_count) in terms of n.
  void fill(std::uint64_t first, std::uint64_t count, const std::string& aggregate, const std::string& state) const {
    MysqlClient client = this->client();
    client.run(context_.store.mysql().is_mariadb() ? "SET max_recursive_iterations = 1000000"
                                                   : "SET cte_max_recursion_depth = 1000000");
    for (std::uint64_t done = 0; done < count; done += kRowsAtOnce) {
      check_interrupt();
      const std::uint64_t from = first + done;
      const std::uint64_t to = first + std::min(count, done + kRowsAtOnce) - 1;
      client.run(
          "INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_source, "
          "publish_channel, topic, event_payload, publish_status, retry_count) "
          "WITH RECURSIVE numbers (n) AS (SELECT " +
          std::to_string(from) + " UNION ALL SELECT n + 1 FROM numbers WHERE n < " + std::to_string(to) +
          ") SELECT CONCAT('FILL', LPAD(n, 16, '0')), 'ORDER', " + aggregate +
          ", 'ORDER_CREATED', 'order-service', 'MQ', 'order.created', JSON_OBJECT('n', n, 'note', REPEAT('x', 230)), " +
          state + " FROM numbers");
    }
    client.run("ANALYZE TABLE biz_outbox_event");
  }

 private:
  Context& context_;
  std::filesystem::path file_;
};

/// Claims and settles as a relay does until nothing is left; how many events.
std::size_t drain(IEventRepository& repository, const ClaimRequest& request) {
  std::vector<Settlement> outcomes;
  std::size_t events = 0;
  for (;;) {
    check_interrupt();
    const ExchangeResult result = repository.exchange(outcomes, request);
    if (result.claimed.events.empty() && !result.claimed.more && outcomes.empty()) return events;
    outcomes = delivered(result.claimed.events);
    events += outcomes.size();
  }
}

ClaimRequest owned_by(const std::string& owner) {
  ClaimRequest request = claim_request(kBatch);
  request.owner = owner;
  return request;
}

double drain_rate(Context& context, std::size_t relays, std::uint64_t backlog) {
  const Place place(context, "relays");
  place.append(backlog);
  std::vector<std::unique_ptr<IEventRepository>> repositories;
  for (std::size_t i = 0; i < relays; ++i) repositories.push_back(place.open());
  std::atomic<std::size_t> events{0};
  std::vector<std::thread> threads;
  const auto start = steady_clock::now();
  for (std::size_t i = 0; i < relays; ++i)
    threads.emplace_back([&, i] { events += drain(*repositories[i], owned_by("relay-" + std::to_string(i))); });
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(events) / seconds_since(start);
}

/// Waits while the server writes out what loading left in memory, a minute at most: a table grows its history over
/// weeks, and a claim does not compete with that. Returns the seconds.
double let_the_server_rest(MysqlClient client) {
  const auto dirty_pages = [&] {
    const auto rows = client.query("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
    return rows.empty() ? 0 : std::stoull(rows.front().at(1));
  };
  const auto start = steady_clock::now();
  for (auto before = dirty_pages(); seconds_since(start) < 60;) {
    check_interrupt();
    std::this_thread::sleep_for(std::chrono::seconds{2});
    const auto after = dirty_pages();
    if (after + 100 > before) break;
    before = after;
  }
  return seconds_since(start);
}

/// Milliseconds of claims; settling is not timed.
std::vector<double> time_claims(Context& context, IEventRepository& repository, std::size_t claims) {
  std::vector<double> times;
  for (std::size_t i = 0; i < claims; ++i) {
    check_interrupt();
    static_cast<void>(repository.append(context.samples.many(kBatch)));
    const auto start = steady_clock::now();
    const ClaimResult claimed = repository.claim(claim_request(kBatch));
    times.push_back(seconds_since(start) * 1e3);
    static_cast<void>(repository.settle(delivered(claimed.events)));
  }
  return times;
}

Measurement claim_line(const std::string& title, const std::vector<double>& times, double limit) {
  Measurement line;
  line.name = "mysql-claim";
  line.title = title;
  line.unit = "ms";
  line.ours = percentile(times, 0.99);
  line.goal = Goal{Goal::Kind::ours_below, limit};
  std::array<char, 80> note{};
  std::snprintf(note.data(), note.size(), "p50 %.2f, p99 %.2f, max %.2f ms", median(times), percentile(times, 0.99),
                largest(times));
  line.note = note.data();
  return line;
}

std::uint64_t deadlocks(MysqlClient& client) {
  const auto rows = client.query("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
  return rows.empty() ? 0 : std::stoull(rows.front().front());
}

/// Runs `step` until the end or a failure, which it keeps.
class Worker {
 public:
  Worker(const std::atomic<bool>& end, std::function<void()> step)
      : thread_([this, &end, step = std::move(step)] {
          try {
            while (!end && !interrupted()) step();
          } catch (const std::exception& error) {
            failure_ = error.what();
          }
        }) {}
  std::string join() {
    thread_.join();
    return failure_;
  }

 private:
  std::string failure_;
  std::thread thread_;
};

}  // namespace

void measure_mysql_relays(Context& context) {
  const std::uint64_t backlog = context.options.quick ? 10'000 : 40'000;
  std::vector<double> one;
  std::vector<double> two;
  std::vector<double> ratios;
  for (unsigned round = 0; round < context.rounds; ++round) {
    context.progress("two relays: round " + std::to_string(round + 1));
    one.push_back(drain_rate(context, 1, backlog));
    two.push_back(drain_rate(context, 2, backlog));
    ratios.push_back(two.back() / one.back());
  }
  Measurement line;
  line.name = "two-relays";
  line.title = "two relays on one table";
  line.unit = "events/s";
  line.ours = median(two);
  line.other = median(one);
  line.other_is = "one relay";
  line.ratio = spread_of(ratios);
  line.goal = Goal{Goal::Kind::ratio_at_least, 1.25};
  line.note = "against one relay; " + std::to_string(backlog) + " events";
  context.add(std::move(line));
}

void measure_mysql_claim(Context& context) {
  const Sizes& sizes = context.sizes;
  const std::uint64_t pending = context.options.quick ? 10'000 : 100'000;
  const Place place(context, "crowd");
  context.progress("writing " + std::to_string(sizes.finished + pending) + " rows");
  place.fill(1, sizes.finished, "CONCAT('order-', n % 100000)", "2, 0");
  place.fill(1 + sizes.finished, pending, "CONCAT('order-', n % 100000)", "0, 0");
  const auto repository = place.open();
  // So many that p99 is not one or two of them.
  const std::size_t claims = context.options.quick ? 200 : 1000;
  context.progress("waiting for the server to write the rows out");
  const double rest = let_the_server_rest(place.client());
  context.progress("claims");
  const std::vector<double> alone = time_claims(context, *repository, claims);
  Measurement line = claim_line("claim 100 in a crowd, p99", alone, 10);
  line.note += "; the server rested " + std::to_string(static_cast<int>(rest)) + " s after loading";
  context.add(std::move(line));
  MysqlClient snapshot = place.client();
  snapshot.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  snapshot.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  context.progress("claims beside an old snapshot");
  const std::vector<double> beside = time_claims(context, *repository, claims);
  context.add(claim_line("the same beside an old snapshot", beside, 2 * percentile(alone, 0.99)));
}

void measure_mysql_ordered(Context& context) {
  const Sizes& sizes = context.sizes;
  const Place place(context, "ordered");
  const std::uint64_t followers = sizes.blocked * sizes.followers;
  context.progress("writing " + std::to_string(sizes.blocked + followers + sizes.healthy) + " rows");
  const std::string blocked = "CONCAT('blocked-', n % " + std::to_string(sizes.blocked) + ")";
  place.fill(1, sizes.blocked, blocked, "3, 5");
  place.fill(1 + sizes.blocked, followers, blocked, "0, 0");
  place.fill(1 + sizes.blocked + followers, sizes.healthy, "CONCAT('order-', n % 10000)", "0, 0");
  ClaimRequest request = owned_by("relay");
  request.ordering = Ordering::aggregate;
  context.progress("ordered drain");
  const auto repository = place.open();
  const auto start = steady_clock::now();
  const std::size_t events = drain(*repository, request);
  const double seconds = seconds_since(start);
  Measurement line;
  line.name = "mysql-ordered";
  line.title = "ordered drain behind blocked ones";
  line.unit = "us/event";
  line.ours = seconds * 1e6 / static_cast<double>(events);
  line.goal = Goal{Goal::Kind::ours_below, 1e6 / 3000};
  std::array<char, 120> note{};
  std::snprintf(note.data(), note.size(), "%zu of %zu events, %.0f events/s, %.1f s in all", events, sizes.healthy,
                static_cast<double>(events) / seconds, seconds);
  line.note = note.data();
  context.add(std::move(line));
}

void measure_mysql_deadlocks(Context& context) {
  const auto length = std::chrono::seconds(context.options.quick ? 20 : 600);
  const Place place(context, "deadlocks");
  MysqlClient watcher = place.client();
  const std::uint64_t before = deadlocks(watcher);
  std::atomic<bool> end{false};
  std::atomic<std::uint64_t> settled{0};
  std::vector<std::unique_ptr<IEventRepository>> stores;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 8; ++i) stores.push_back(place.open());
  for (std::uint64_t producer = 0; producer < 4; ++producer)
    workers.push_back(std::make_unique<Worker>(
        end, [&store = *stores[producer], samples = Samples(1 + producer * 100'000'000'000, producer + 1)]() mutable {
          static_cast<void>(store.append(samples.many(1 + samples.one().event_payload.size() % 20)));
          std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }));
  for (std::size_t relay = 0; relay < 3; ++relay)
    workers.push_back(
        std::make_unique<Worker>(end, [&settled, &store = *stores[4 + relay], relay, turn = 0U]() mutable {
          const ClaimResult claimed = store.claim(owned_by("relay-" + std::to_string(relay)));
          std::vector<Settlement> outcomes = delivered(claimed.events);
          for (Settlement& outcome : outcomes) {
            if (++turn % 20 != 0) continue;
            outcome.command = Command::fail;
            outcome.next_retry_time = store.now();
            outcome.reason = "refused";
          }
          static_cast<void>(store.settle(outcomes));
          settled += outcomes.size();
          if (claimed.events.empty()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }));
  workers.push_back(std::make_unique<Worker>(end, [&store = *stores[7]] {
    static_cast<void>(store.archive(store.now() - std::chrono::seconds{5}, 500));
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }));
  const auto start = steady_clock::now();
  while (steady_clock::now() - start < length && !interrupted()) std::this_thread::sleep_for(std::chrono::seconds{1});
  end = true;
  std::string failures;
  for (const auto& worker : workers) failures += worker->join();
  check_interrupt();
  if (!failures.empty()) throw std::runtime_error("deadlocks: " + failures);
  Measurement line;
  line.name = "deadlocks";
  line.title = "deadlocks seen by the server";
  line.unit = "";
  line.ours = static_cast<double>(deadlocks(watcher) - before);
  line.goal = Goal{Goal::Kind::ours_below, 1};
  line.note = std::to_string(length.count()) + " s of 4 producers, 3 relays and an archiver; " +
              std::to_string(settled.load()) + " events settled";
  context.add(std::move(line));
}

}  // namespace waybill::bench
