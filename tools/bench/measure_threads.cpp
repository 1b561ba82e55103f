// Group commit: many producers in one process.

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "interrupt.hpp"
#include "measures.hpp"
#include "waybill/appender.hpp"

namespace waybill::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kProducers = 8;

/// Events per second of `producers` threads that append one event at a time; `connect` gives each its way to do it.
using AppendOne = std::function<void(NewEvent)>;
double rate_of(std::size_t producers, const std::vector<NewEvent>& events,
               const std::function<AppendOne(std::size_t)>& connect) {
  std::vector<AppendOne> ways;
  for (std::size_t i = 0; i < producers; ++i) ways.push_back(connect(i));
  std::vector<std::exception_ptr> failures(producers);
  const auto produce = [&](std::size_t producer) {
    try {
      for (std::size_t at = producer; at < events.size() && !interrupted(); at += producers) ways[producer](events[at]);
    } catch (...) {
      failures[producer] = std::current_exception();
    }
  };
  const auto start = steady_clock::now();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < producers; ++i) threads.emplace_back(produce, i);
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  check_interrupt();
  return static_cast<double>(events.size()) / seconds;
}

double one_producer(Context& context, const std::filesystem::path& file, std::size_t count) {
  const std::shared_ptr<IEventRepository> repository = context.store.open(file);
  return rate_of(1, context.samples.many(count), [&](std::size_t) -> AppendOne {
    return [repository](NewEvent event) { static_cast<void>(repository->append({&event, 1})); };
  });
}

double through_appender(Context& context, const std::filesystem::path& file, std::size_t producers, std::size_t count) {
  Appender appender(context.store.open(file));
  return rate_of(producers, context.samples.many(count), [&](std::size_t) -> AppendOne {
    return [&appender](NewEvent event) { static_cast<void>(appender.append(std::move(event))); };
  });
}

double own_connections(Context& context, const std::filesystem::path& file, std::size_t count) {
  return rate_of(kProducers, context.samples.many(count), [&](std::size_t) -> AppendOne {
    const std::shared_ptr<IEventRepository> repository = context.store.open(file);
    return [repository](NewEvent event) {
      for (;;) {
        try {
          static_cast<void>(repository->append({&event, 1}));
          return;
        } catch (const StorageError& error) {
          if (error.code() != ErrorCode::busy || interrupted()) throw;
        }
      }
    };
  });
}

Measurement group_line(const std::string& title, const std::vector<double>& ours, const std::vector<double>& other,
                       const std::string& other_is) {
  Measurement line;
  line.name = "group-commit";
  line.title = title;
  line.unit = "events/s";
  line.ours = median(ours);
  line.other = median(other);
  line.other_is = other_is;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / other[i]);
  line.ratio = spread_of(ratios);
  return line;
}

}  // namespace

void measure_group_commit(Context& context) {
  std::vector<double> group;
  std::vector<double> single;
  std::vector<double> queued;
  std::vector<double> own;
  const std::size_t count = context.sizes.group;
  const std::filesystem::path file = context.workspace.fresh("group");
  context.store.create(file);
  for (unsigned round = 0; round < context.rounds; ++round) {
    context.progress("group commit: round " + std::to_string(round + 1) + " of " + std::to_string(context.rounds));
    single.push_back(one_producer(context, file, count / 4));
    group.push_back(through_appender(context, file, kProducers, count));
    queued.push_back(through_appender(context, file, 1, count / 4));
    if (context.store.is_sqlite()) own.push_back(own_connections(context, file, count / 4));
  }
  context.store.remove(file);
  Measurement line = group_line("8 producers, one Appender", group, single, "one producer, append 1");
  if (context.store.is_sqlite()) line.goal = Goal{Goal::Kind::ratio_at_least, 3};
  line.note = "against one producer that appends 1 by 1";
  context.add(std::move(line));
  Measurement one = group_line("1 producer, one Appender", queued, single, "one producer, append 1");
  one.note = "against the same without Appender";
  context.add(std::move(one));
  if (own.empty()) return;
  Measurement other = group_line("8 producers, one Appender", group, own, "eight connections of our store");
  other.note = "against 8 producers with a connection each";
  context.add(std::move(other));
}

}  // namespace waybill::bench
