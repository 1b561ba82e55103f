// Two processes on one file: how soon one sees what the other has committed, and how long it may have to wait for it.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "interrupt.hpp"
#include "measures.hpp"
#include "naive.hpp"
#include "process.hpp"

namespace waybill::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostWakeups = 2000;

/// Between the process that appends and the one that waits. Times are monotonic_ns().
struct WakeBoard {
  std::atomic<bool> ready{false};
  std::atomic<std::size_t> seen{0};
  std::array<std::atomic<std::int64_t>, kMostWakeups> woken_at{};  ///< when the wait before that claim ended
  std::array<std::atomic<std::int64_t>, kMostWakeups> seen_at{};   ///< when the claim had it, its commit included
};

/// The waiting process: what RelayRunner does around Relay::step(), with a transport that takes everything.
void wait_and_claim(const OurStore& store, const std::filesystem::path& file, WakeBoard& board) {
  const auto repository = store.open(file);
  std::vector<Settlement> outcomes;
  for (;;) {
    const std::int64_t woken = monotonic_ns();
    const ExchangeResult result = repository->exchange(outcomes, claim_request(100));
    const std::int64_t now = monotonic_ns();
    for (const Event& event : result.claimed.events) {
      const std::uint64_t index = number_of(event.event_no) - kFirstSample;
      if (index < kMostWakeups) {
        board.woken_at[index] = woken;
        board.seen_at[index] = now;
      }
      ++board.seen;
    }
    outcomes = delivered(result.claimed.events);
    board.ready = true;
    if (outcomes.empty() && !result.claimed.more) repository->wait_for_work(std::chrono::seconds(1));
  }
}

struct WakeTimes {
  std::vector<double> milliseconds;
  std::vector<double> woken_milliseconds;
  double idle_cpu_percent{0};
};

WakeTimes time_wakeups(Context& context, const std::filesystem::path& file) {
  Shared<WakeBoard> board;
  const Child waiter([&] { wait_and_claim(context.store, file, *board); });
  waiter.wait_until([&] { return board->ready.load(); }, std::chrono::seconds(30), "the waiting process was ready");
  std::vector<std::int64_t> committed_at;
  Samples samples;
  const auto repository = context.store.open(file);
  const std::size_t count = std::min(context.sizes.wakeups, kMostWakeups);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 100 == 0) context.progress("wake-up: " + std::to_string(i) + " of " + std::to_string(count));
    const NewEvent event = samples.one();
    static_cast<void>(repository->append({&event, 1}));
    committed_at.push_back(monotonic_ns());
    // Uneven, so that it does not beat in time with anybody's polling.
    pause_for(std::chrono::microseconds(5000 + 37 * (i * 7919 % 200)));
  }
  waiter.wait_until([&] { return board->seen.load() >= count; }, std::chrono::seconds(30), "it had seen every event");
  WakeTimes times;
  // The other may see a commit before the call that made it has returned.
  const auto since_commit = [](std::int64_t at, std::int64_t committed) {
    return std::max(0.0, static_cast<double>(at - committed) / 1e6);
  };
  for (std::size_t i = 0; i < count; ++i) {
    times.milliseconds.push_back(since_commit(board->seen_at[i], committed_at[i]));
    times.woken_milliseconds.push_back(since_commit(board->woken_at[i], committed_at[i]));
  }
  context.progress("wake-up: idle");
  pause_for(std::chrono::milliseconds(1500));  // past the last settling and whatever it triggers
  const double cpu = cpu_seconds(waiter.pid());
  const auto start = steady_clock::now();
  pause_for(std::chrono::seconds(context.sizes.idle_seconds));
  const double seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
  times.idle_cpu_percent = 100 * (cpu_seconds(waiter.pid()) - cpu) / seconds;
  return times;
}

// ---- longest claim ----

struct WriterBoard {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> written{0};
};

struct Contention {
  double longest_claim_ms{0};
  double claimed_per_second{0};
  double written_per_second{0};
};

/// `write` appends one event; `claim` does one round of a relay and returns how long the claim in it took, or nullopt
/// when there was nothing to claim.
Contention beside_writer(int seconds, const std::function<std::function<void(const NewEvent&)>()>& open_writer,
                         const std::function<std::function<std::size_t(double&)>()>& open_relay, std::uint64_t first) {
  Shared<WriterBoard> board;
  Child writer([&] {
    const auto write = open_writer();
    Samples samples(first);
    while (!board->stop) {
      write(samples.one());
      ++board->written;
    }
  });
  Contention result;
  std::size_t claimed = 0;
  const auto relay = open_relay();
  writer.wait_until([&] { return board->written > 10; }, std::chrono::seconds(30), "the writer had begun");
  const std::uint64_t written = board->written;
  const auto start = steady_clock::now();
  const auto end = start + std::chrono::seconds(seconds);
  while (steady_clock::now() < end) {
    check_interrupt();
    double milliseconds = 0;
    claimed += relay(milliseconds);
    result.longest_claim_ms = std::max(result.longest_claim_ms, milliseconds);
  }
  const double passed = std::chrono::duration<double>(steady_clock::now() - start).count();
  result.claimed_per_second = static_cast<double>(claimed) / passed;
  result.written_per_second = static_cast<double>(board->written - written) / passed;
  board->stop = true;
  writer.join(std::chrono::seconds(30));
  return result;
}

Contention our_contention(const Context& context, const std::filesystem::path& file, std::uint64_t first) {
  const auto open_writer = [&]() -> std::function<void(const NewEvent&)> {
    const std::shared_ptr<IEventRepository> repository = context.store.open(file);
    return [repository](const NewEvent& event) { static_cast<void>(repository->append({&event, 1})); };
  };
  const auto open_relay = [&]() -> std::function<std::size_t(double&)> {
    const std::shared_ptr<IEventRepository> repository = context.store.open(file);
    const auto outcomes = std::make_shared<std::vector<Settlement>>();
    return [repository, outcomes](double& milliseconds) {
      const auto start = steady_clock::now();
      const ExchangeResult result = repository->exchange(*outcomes, claim_request(100));
      milliseconds = std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
      *outcomes = delivered(result.claimed.events);
      if (outcomes->empty()) repository->wait_for_work(std::chrono::milliseconds(100));
      return result.claimed.events.size();
    };
  };
  return beside_writer(context.sizes.contention_seconds, open_writer, open_relay, first);
}

Contention naive_contention(const Context& context, const std::filesystem::path& file, std::uint64_t first) {
  const NaiveOptions options{context.full_sync, false};
  const auto open_writer = [&]() -> std::function<void(const NewEvent&)> {
    const auto loop = std::make_shared<NaiveLoop>(file, options);
    return [loop](const NewEvent& event) { loop->append({&event, 1}); };
  };
  const auto open_relay = [&]() -> std::function<std::size_t(double&)> {
    const auto loop = std::make_shared<NaiveLoop>(file, options);
    return [loop](double& milliseconds) {
      const auto start = steady_clock::now();
      const std::vector<NaiveEvent> events = loop->claim(100);
      milliseconds = std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
      if (!events.empty()) loop->settle(events);
      if (events.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return events.size();
    };
  };
  return beside_writer(context.sizes.contention_seconds, open_writer, open_relay, first);
}

}  // namespace

void measure_wakeup(Context& context) {
  const std::filesystem::path file = context.workspace.fresh("wakeup");
  context.store.create(file);
  const WakeTimes times = time_wakeups(context, file);
  remove_database(file);
  Measurement line;
  line.name = "wakeup";
  line.title = "wake-up across processes, p99";
  line.unit = "ms";
  line.ours = percentile(times.milliseconds, 0.99);
  line.goal = Goal{Goal::Kind::ours_below, 2};
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "from commit to claim committed: p50 %.2f, max %.2f ms; to the end of the wait: p50 %.2f, p99 %.2f ms",
                median(times.milliseconds), largest(times.milliseconds), median(times.woken_milliseconds),
                percentile(times.woken_milliseconds, 0.99));
  line.note = text.data();
  line.details = {{"p50_ms", median(times.milliseconds)},
                  {"max_ms", largest(times.milliseconds)},
                  {"woken_p50_ms", median(times.woken_milliseconds)},
                  {"woken_p99_ms", percentile(times.woken_milliseconds, 0.99)}};
  context.add(std::move(line));
  Measurement idle;
  idle.name = "wakeup";
  idle.title = "CPU of the waiting process when idle";
  idle.unit = "%";
  idle.ours = times.idle_cpu_percent;
  idle.goal = Goal{Goal::Kind::ours_below, 2};
  context.add(std::move(idle));
}

void measure_contention(Context& context) {
  std::vector<Contention> ours;
  std::vector<Contention> naive;
  const std::filesystem::path our_file = context.workspace.fresh("contention-ours");
  const std::filesystem::path naive_file = context.workspace.fresh("contention-naive");
  context.store.create(our_file);
  NaiveLoop::create(naive_file);
  const unsigned rounds = std::min(context.rounds, 5U);
  for (unsigned round = 0; round < rounds; ++round) {
    context.progress("longest claim: round " + std::to_string(round + 1) + " of " + std::to_string(rounds));
    const std::uint64_t first = kFirstSample * (2 + round);
    ours.push_back(our_contention(context, our_file, first));
    naive.push_back(naive_contention(context, naive_file, first));
  }
  const auto worst = [](const std::vector<Contention>& list) {
    double longest = 0;
    for (const Contention& one : list) longest = std::max(longest, one.longest_claim_ms);
    return longest;
  };
  const auto rates = [](const std::vector<Contention>& list, double Contention::*rate) {
    std::vector<double> values;
    for (const Contention& one : list) values.push_back(one.*rate);
    return median(values);
  };
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(naive[i].longest_claim_ms / ours[i].longest_claim_ms);
  Measurement line;
  line.name = "contention";
  line.title = "longest claim beside a tight writer";
  line.unit = "ms";
  line.ours = worst(ours);
  line.other = worst(naive);
  line.ratio = spread_of(ratios);
  line.goal = Goal{Goal::Kind::ours_below, 250};
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "events/s claimed beside events/s written: %.0f beside %.0f against %.0f beside %.0f",
                rates(ours, &Contention::claimed_per_second), rates(ours, &Contention::written_per_second),
                rates(naive, &Contention::claimed_per_second), rates(naive, &Contention::written_per_second));
  line.note = text.data();
  context.add(std::move(line));
}

}  // namespace waybill::bench
