// How long one claim takes beside many rows that it must not touch.

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "fixture.hpp"
#include "interrupt.hpp"
#include "measures.hpp"
#include "naive.hpp"

namespace waybill::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kBatch = 100;
constexpr std::size_t kHeadBatch = 1000;

double milliseconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
}

struct ClaimTimes {
  std::vector<double> milliseconds;
  std::size_t empty_with_more{0};     ///< in a row, from the start on
  std::optional<double> first_event;  ///< milliseconds of claims until the first event came
  std::size_t events{0};
};

/// Claims are timed, settling them is not.
void claim_ours(IEventRepository& repository, const ClaimRequest& request, std::size_t claims, ClaimTimes& times) {
  for (std::size_t i = 0; i < claims; ++i) {
    check_interrupt();
    const auto start = steady_clock::now();
    const ClaimResult claimed = repository.claim(request);
    times.milliseconds.push_back(milliseconds_since(start));
    times.events += claimed.events.size();
    if (!times.first_event) {
      if (claimed.events.empty() && claimed.more) ++times.empty_with_more;
      double sum = 0;
      for (const double one : times.milliseconds) sum += one;
      if (!claimed.events.empty()) times.first_event = sum;
    }
    static_cast<void>(repository.settle(delivered(claimed.events)));
    if (claimed.events.empty() && !claimed.more) return;
  }
}

void claim_naive(NaiveLoop& loop, std::size_t claims, ClaimTimes& times) {
  for (std::size_t i = 0; i < claims; ++i) {
    check_interrupt();
    const auto start = steady_clock::now();
    const std::vector<NaiveEvent> claimed = loop.claim(kBatch);
    times.milliseconds.push_back(milliseconds_since(start));
    times.events += claimed.size();
    if (!claimed.empty()) loop.settle(claimed);
  }
}

std::string percentiles_note(const std::vector<double>& times) {
  std::array<char, 100> text{};
  std::snprintf(text.data(), text.size(), "p50 %.2f, p99 %.2f, max %.2f ms", median(times), percentile(times, 0.99),
                largest(times));
  return text.data();
}

/// The store URL with synchronous=normal.
OurStore without_sync(const OurStore& store) {
  Url url = store.url();
  std::erase_if(url.query, [](const auto& option) { return option.first == "synchronous"; });
  url.query.emplace_back("synchronous", "normal");
  return OurStore(url);
}

void crowd_line(Context& context, const OurStore& store, bool full_sync, std::optional<double> goal) {
  const History& files = *context.history;
  ClaimTimes ours;
  ClaimTimes naive;
  std::vector<double> ratios;
  const auto repository = store.open(files.ours);
  NaiveLoop loop(files.naive, {full_sync, false});
  for (unsigned round = 0; round < context.rounds; ++round) {
    context.progress("claims: round " + std::to_string(round + 1) + " of " + std::to_string(context.rounds));
    ClaimTimes ours_round;
    ClaimTimes naive_round;
    claim_ours(*repository, claim_request(kBatch), context.sizes.claims, ours_round);
    claim_naive(loop, context.sizes.claims, naive_round);
    ratios.push_back(median(naive_round.milliseconds) / median(ours_round.milliseconds));
    ours.milliseconds.insert(ours.milliseconds.end(), ours_round.milliseconds.begin(), ours_round.milliseconds.end());
    naive.milliseconds.insert(naive.milliseconds.end(), naive_round.milliseconds.begin(),
                              naive_round.milliseconds.end());
  }
  Measurement line;
  line.name = "claim";
  line.title = full_sync ? "claim 100 in a crowd, p50" : "the same, synchronous=normal";
  line.unit = "ms";
  line.ours = median(ours.milliseconds);
  line.other = median(naive.milliseconds);
  line.ratio = spread_of(ratios);
  if (goal) line.goal = Goal{Goal::Kind::ours_below, *goal};
  line.note = percentiles_note(ours.milliseconds) + "; naive " + percentiles_note(naive.milliseconds);
  line.details = {{"ours_max_ms", largest(ours.milliseconds)}, {"naive_max_ms", largest(naive.milliseconds)}};
  context.add(std::move(line));
}

// ---- ordered ----

void append_all(IEventRepository& repository, std::vector<NewEvent>& batch) {
  if (batch.empty()) return;
  static_cast<void>(repository.append(batch));
  batch.clear();
  check_interrupt();
}

/// Heads that failed: one half is dead, the other tried again in an hour.
void make_blocked_heads(Context& context, IEventRepository& repository) {
  std::vector<NewEvent> batch;
  for (std::size_t i = 0; i < context.sizes.blocked; ++i) {
    batch.push_back(context.samples.of_aggregate("blocked-" + std::to_string(i)));
    if (batch.size() == kHeadBatch) append_all(repository, batch);
  }
  append_all(repository, batch);
  for (;;) {
    const ClaimResult claimed = repository.claim(claim_request(kHeadBatch));
    if (claimed.events.empty()) return;
    std::vector<Settlement> outcomes = delivered(claimed.events);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      outcomes[i].command = i % 2 == 0 ? Command::reject : Command::fail;
      outcomes[i].reason = "HTTP 503";
      outcomes[i].next_retry_time = repository.now() + std::chrono::hours(1);
    }
    static_cast<void>(repository.settle(outcomes));
  }
}

/// Through the port, as it happens in life: heads fail, their followers arrive, then others.
void build_ordered(Context& context, const std::filesystem::path& file) {
  // Durability does not matter while building: the file is closed, so checkpointed, before it is measured.
  const auto repository = without_sync(context.store).open(file);
  make_blocked_heads(context, *repository);
  std::vector<NewEvent> batch;
  for (std::size_t turn = 0; turn < context.sizes.followers; ++turn) {
    context.progress("ordered claim: appending followers, turn " + std::to_string(turn + 1) + " of " +
                     std::to_string(context.sizes.followers));
    for (std::size_t i = 0; i < context.sizes.blocked; ++i) {
      batch.push_back(context.samples.of_aggregate("blocked-" + std::to_string(i)));
      if (batch.size() == kHeadBatch) append_all(*repository, batch);
    }
  }
  for (std::size_t i = 0; i < context.sizes.healthy; ++i) {
    batch.push_back(context.samples.one());
    if (batch.size() == kHeadBatch) append_all(*repository, batch);
  }
  append_all(*repository, batch);
}

ClaimTimes ordered_naive(Context& context) {
  context.progress("ordered claim: the hand-written loop");
  const std::filesystem::path file = context.workspace.fresh("ordered-naive");
  NaiveLoop::create(file);
  const Sizes& sizes = context.sizes;
  const std::uint64_t followers = sizes.blocked * sizes.followers;
  fill(file, {RowKind::heads, 1, sizes.blocked, sizes.blocked});
  fill(file, {RowKind::followers, 1 + sizes.blocked, followers, sizes.blocked});
  fill(file, {RowKind::pending, 1 + sizes.blocked + followers, sizes.healthy});
  ClaimTimes times;
  {
    NaiveLoop loop(file, {context.full_sync, true});
    claim_naive(loop, 5, times);
  }
  remove_database(file);
  return times;
}

Measurement ordered_line(const ClaimTimes& ours, const ClaimTimes& naive) {
  const std::vector<double> after(ours.milliseconds.begin() + (ours.milliseconds.empty() ? 0 : 1),
                                  ours.milliseconds.end());
  Measurement line;
  line.name = "ordered";
  line.title = "ordered claim behind blocked ones, p50";
  line.unit = "ms";
  line.ours = median(after);
  line.other = median(naive.milliseconds);
  line.goal = Goal{Goal::Kind::ours_below, 5};
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "first %.1f ms; %zu claims empty with more at the start; first event after %.1f ms; later %s",
                ours.milliseconds.empty() ? 0.0 : ours.milliseconds.front(), ours.empty_with_more,
                ours.first_event.value_or(-1), percentiles_note(after).c_str());
  line.note = text.data();
  line.details = {{"first_ms", ours.milliseconds.empty() ? 0 : ours.milliseconds.front()},
                  {"max_ms", largest(after)},
                  {"empty_with_more", static_cast<double>(ours.empty_with_more)},
                  {"until_first_event_ms", ours.first_event.value_or(-1)},
                  {"claims", static_cast<double>(ours.milliseconds.size())},
                  {"events", static_cast<double>(ours.events)}};
  return line;
}

}  // namespace

void measure_claim(Context& context) {
  static_cast<void>(history_of(context, true));
  crowd_line(context, context.store, context.full_sync, 1.0);
  if (context.full_sync) crowd_line(context, without_sync(context.store), false, std::nullopt);
}

void measure_ordered(Context& context) {
  const Sizes& sizes = context.sizes;
  context.workspace.require_room(2'000 * (sizes.blocked * (sizes.followers + 1) + sizes.healthy));
  const std::filesystem::path file = context.workspace.fresh("ordered-ours");
  context.store.create(file);
  build_ordered(context, file);
  sync_file(file);
  ClaimTimes ours;
  {
    // A fresh connection, as after a restart: nothing remembered.
    const auto repository = context.store.open(file);
    ClaimRequest request = claim_request(kBatch);
    request.ordering = Ordering::aggregate;
    context.progress("ordered claim: ours");
    claim_ours(*repository, request, 2 * (sizes.healthy + sizes.blocked * sizes.followers) / kBatch, ours);
  }
  remove_database(file);
  context.add(ordered_line(ours, ordered_naive(context)));
}

}  // namespace waybill::bench
