// Events per second: append, claim and settle, the full cycle.

#include <stdexcept>

#include "duel.hpp"
#ifdef WAYBILL_WITH_SQLITE
#include "fixture.hpp"
#endif
#include "measures.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "mysql_client.hpp"
#include "waybill/backends/mysql.hpp"
#endif

namespace waybill::bench {
namespace {

void append_in_batches(Loop& loop, std::span<const NewEvent> events, std::size_t batch) {
  for (std::size_t at = 0; at < events.size(); at += batch)
    loop.append(events.subspan(at, std::min(batch, events.size() - at)));
}

/// Takes exactly so many; the backlog must hold them.
void deliver(Loop& loop, std::size_t events, std::size_t batch) {
  for (std::size_t done = 0; done < events;) {
    const std::size_t claimed = loop.relay(std::min(batch, events - done));
    if (claimed == 0) throw std::runtime_error("a claim came back empty although events wait");
    done += claimed;
  }
}

void cycle(Loop& loop, std::span<const NewEvent> events, std::size_t batch) {
  for (std::size_t at = 0; at < events.size(); at += batch) {
    const auto part = events.subspan(at, std::min(batch, events.size() - at));
    loop.append(part);
    deliver(loop, part.size(), batch);
  }
}

Duel append_duel(const char* name, const char* title, std::size_t events, std::size_t batch) {
  Duel duel;
  duel.name = name;
  duel.title = title;
  duel.events_per_turn = events;
  duel.turn = [batch](Loop& loop, std::span<const NewEvent> list) { append_in_batches(loop, list, batch); };
  return duel;
}

Duel cycle_duel(const char* name, const char* title, std::size_t events, std::size_t batch) {
  Duel duel;
  duel.name = name;
  duel.title = title;
  duel.events_per_turn = events;
  duel.turn = [batch](Loop& loop, std::span<const NewEvent> list) { cycle(loop, list, batch); };
  return duel;
}

void report(Context& context, const Duel& duel, std::optional<double> goal) {
  const std::vector<Round> rounds = fight(context, duel);
  Measurement line = line_of(duel, rounds);
  if (goal && line.ratio) line.goal = Goal{Goal::Kind::ratio_at_least, *goal};
  context.fought[duel.name] = rounds;
  context.add(std::move(line));
}

std::optional<double> cycle_goal([[maybe_unused]] const Context& context) {
#ifdef WAYBILL_WITH_MYSQL
  if (context.store.is_mysql()) {
    if (mysql_options(context.store.url(), {}).full_indexes) return 1.2;
    return context.store.mysql().is_mariadb() ? 2.0 : 1.5;
  }
#endif
  return 1.1;
}

double median_bytes(const std::vector<Round>& rounds, bool ours, std::uint64_t Effort::*counter) {
  std::vector<double> list;
  for (const Round& round : rounds) {
    const Effort& effort = ours ? round.ours : *round.naive;
    list.push_back(effort.per_event(static_cast<double>(effort.*counter)));
  }
  return median(list);
}

void add_bytes(Context& context, const std::string& duel, const std::string& what) {
  const std::vector<Round>& rounds = context.fought.at(duel);
  if (rounds.empty() || !rounds.front().naive) return;
  const auto add = [&](const std::string& kind, std::uint64_t Effort::*counter) {
    Measurement line;
    line.name = "bytes";
    line.title = "bytes " + kind + ", " + what;
    line.unit = "B/event";
    line.ours = median_bytes(rounds, true, counter);
    line.other = median_bytes(rounds, false, counter);
    std::vector<double> ratios;
    for (const Round& round : rounds)
      if (round.ours.*counter > 0)
        ratios.push_back(static_cast<double>((*round.naive).*counter) / static_cast<double>(round.ours.*counter));
    if (!ratios.empty()) line.ratio = spread_of(ratios);
    context.add(std::move(line));
  };
  add("written", &Effort::wchar);
  add("to disk", &Effort::write_bytes);
}

}  // namespace

void measure_append_1(Context& context) {
  const std::optional<double> goal = context.store.is_sqlite() ? std::optional(0.85) : std::nullopt;
  report(context, append_duel("append-1", "append 1", context.sizes.append_1, 1), goal);
}

void measure_append_100(Context& context) {
  report(context, append_duel("append-100", "append 100", context.sizes.batch_100, 100), std::nullopt);
}

void measure_claim_settle(Context& context) {
  Duel duel;
  duel.name = "claim-settle";
  duel.title = "claim + settle 100, from a backlog";
  duel.events_per_turn = context.sizes.batch_100;
  const std::size_t backlog = context.sizes.batch_100 * context.sizes.chunks;
  duel.prepare = [backlog](Loop& loop) { append_in_batches(loop, Samples(1, 2).many(backlog), 1000); };
  duel.turn = [](Loop& loop, std::span<const NewEvent> list) { deliver(loop, list.size(), 100); };
  report(context, duel, std::nullopt);
}

void measure_cycle_100(Context& context) {
  report(context, cycle_duel("cycle-100", "full cycle, batch 100", context.sizes.batch_100, 100), cycle_goal(context));
}

void measure_cycle_1000(Context& context) {
  report(context, cycle_duel("cycle-1000", "full cycle, batch 1000", context.sizes.batch_1000, 1000), std::nullopt);
}

#ifdef WAYBILL_WITH_SQLITE
void measure_history(Context& context) {
  Duel duel = cycle_duel("history", "full cycle, batch 100, long history", context.sizes.batch_100, 100);
  duel.files = history_of(context, false);
  report(context, duel, 2.5);
  context.report.measurements.back().note += ", beside " + std::to_string(context.sizes.finished) + " finished rows";
}
#endif

void measure_bytes(Context& context) {
  if (context.fought.count("append-1") == 0) measure_append_1(context);
  if (context.fought.count("cycle-100") == 0) measure_cycle_100(context);
  add_bytes(context, "append-1", "append 1");
  add_bytes(context, "cycle-100", "full cycle 100");
}

}  // namespace waybill::bench
