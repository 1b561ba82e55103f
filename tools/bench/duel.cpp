#include "duel.hpp"

#include <array>
#include <chrono>
#include <cstdio>

#include "interrupt.hpp"
#include "process.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "naive_mysql.hpp"
#endif
#ifdef WAYBILL_WITH_SQLITE
#include "naive.hpp"
#endif

namespace waybill::bench {
namespace {

/// One side of one round: its file, its connection and what it has used so far.
class Side {
 public:
  using Open = std::function<std::unique_ptr<Loop>()>;
  explicit Side(Open open) : open_(std::move(open)) {}

  void prepare(const std::function<void(Loop&)>& work) {
    if (!work) return;
    const std::unique_ptr<Loop> loop = open_();
    work(*loop);
    loop->finish();
  }
  void open() { loop_ = open_(); }

  void turn(const Duel& duel, std::span<const NewEvent> events) {
    timed([&] { duel.turn(*loop_, events); });
    effort_.events += events.size();
  }

  Effort close() {
    timed([&] {
      loop_->finish();
      loop_.reset();
    });
    return effort_;
  }

 private:
  void timed(const std::function<void()>& work) {
    const IoCounters io = io_counters();
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    effort_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    effort_.cpu_seconds += cpu_seconds() - cpu;
    const IoCounters after = io_counters();
    effort_.wchar += after.wchar - io.wchar;
    effort_.write_bytes += after.write_bytes - io.write_bytes;
  }

  Open open_;
  std::unique_ptr<Loop> loop_;
  Effort effort_;
};

/// Keeps a memory store alive between the connection that prepares and the one that is timed.
Side::Open our_open(const Context& context, const std::filesystem::path& file) {
  if (context.store.is_sqlite() || context.store.is_mysql())
    return [&context, file] { return std::make_unique<OurLoop>(context.store.open(file)); };
  const auto kept = std::make_shared<OurLoop>(context.store.open(file));
  struct Borrowed final : Loop {
    explicit Borrowed(std::shared_ptr<OurLoop> owner) : loop(std::move(owner)) {}
    void append(std::span<const NewEvent> events) override { loop->append(events); }
    std::size_t relay(std::size_t limit) override { return loop->relay(limit); }
    void finish() override { loop->finish(); }
    std::shared_ptr<OurLoop> loop;
  };
  return [kept] { return std::make_unique<Borrowed>(kept); };
}

std::optional<Side> naive_side([[maybe_unused]] const Context& context,
                               [[maybe_unused]] const std::filesystem::path& file) {
#ifdef WAYBILL_WITH_SQLITE
  if (context.store.is_sqlite())
    return Side([file, full = context.full_sync] {
      return std::make_unique<NaiveLoop>(file, NaiveOptions{full, false});
    });
#endif
#ifdef WAYBILL_WITH_MYSQL
  if (context.store.is_mysql())
    return Side([url = context.store.mysql().url_of(file)] { return std::make_unique<NaiveMysqlLoop>(url); });
#endif
  return std::nullopt;
}

History fresh_files(Context& context) {
  History files{context.workspace.fresh("ours"), context.workspace.fresh("naive")};
  context.store.create(files.ours);
#ifdef WAYBILL_WITH_SQLITE
  if (context.store.is_sqlite()) NaiveLoop::create(files.naive);
#endif
#ifdef WAYBILL_WITH_MYSQL
  if (context.store.is_mysql()) {
    context.store.mysql().create(files.naive);
    NaiveMysqlLoop::create(context.store.mysql().url_of(files.naive));
  }
#endif
  return files;
}

void take_turns(Context& context, const Duel& duel, unsigned round, Side& ours, std::optional<Side>& naive) {
  for (std::size_t turn = 0; turn < context.sizes.chunks; ++turn) {
    check_interrupt();
    const std::vector<NewEvent> events = context.samples.many(duel.events_per_turn);
    const bool ours_first = (turn + round) % 2 == 0;
    if (ours_first) ours.turn(duel, events);
    if (naive) naive->turn(duel, events);
    if (!ours_first) ours.turn(duel, events);
  }
}

std::vector<double> values(const std::vector<Round>& rounds, bool ours,
                           const std::function<double(const Effort&)>& get) {
  std::vector<double> list;
  for (const Round& round : rounds) {
    if (ours) list.push_back(get(round.ours));
    if (!ours && round.naive) list.push_back(get(*round.naive));
  }
  return list;
}

std::string cost_note(const Measurement& line) {
  const auto detail = [&line](const std::string& name) {
    for (const auto& [key, value] : line.details)
      if (key == name) return value;
    return 0.0;
  };
  std::array<char, 160> text{};
  if (line.other)
    std::snprintf(text.data(), text.size(), "CPU %.1f against %.1f us/event, written %.1f against %.1f KB/event",
                  detail("ours_cpu_us_per_event"), detail("naive_cpu_us_per_event"),
                  detail("ours_wchar_per_event") / 1e3, detail("naive_wchar_per_event") / 1e3);
  else
    std::snprintf(text.data(), text.size(), "CPU %.1f us/event", detail("ours_cpu_us_per_event"));
  return text.data();
}

}  // namespace

std::vector<Round> fight(Context& context, const Duel& duel) {
  std::vector<Round> rounds;
  for (unsigned round = 0; round < context.rounds; ++round) {
    context.progress(duel.title + ": round " + std::to_string(round + 1) + " of " + std::to_string(context.rounds));
    const History files = duel.files ? *duel.files : fresh_files(context);
    Side ours(our_open(context, files.ours));
    std::optional<Side> naive = naive_side(context, files.naive);
    ours.prepare(duel.prepare);
    if (naive) naive->prepare(duel.prepare);
    ours.open();
    if (naive) naive->open();
    take_turns(context, duel, round, ours, naive);
    Round result;
    result.ours = ours.close();
    if (naive) result.naive = naive->close();
    rounds.push_back(result);
    if (duel.files) continue;
    context.store.remove(files.ours);
    context.store.remove(files.naive);
  }
  return rounds;
}

Measurement line_of(const Duel& duel, const std::vector<Round>& rounds) {
  Measurement line;
  line.name = duel.name;
  line.title = duel.title;
  line.unit = "events/s";
  line.ours = median(values(rounds, true, &Effort::rate));
  const std::vector<double> naive_rates = values(rounds, false, &Effort::rate);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < naive_rates.size(); ++i) ratios.push_back(rounds[i].ours.rate() / naive_rates[i]);
  if (!naive_rates.empty()) {
    line.other = median(naive_rates);
    line.ratio = spread_of(ratios);
  }
  const auto add = [&](const std::string& name, const std::function<double(const Effort&)>& get) {
    line.details.emplace_back("ours_" + name, median(values(rounds, true, get)));
    if (line.other) line.details.emplace_back("naive_" + name, median(values(rounds, false, get)));
  };
  add("cpu_us_per_event", [](const Effort& effort) { return effort.per_event(effort.cpu_seconds * 1e6); });
  add("wchar_per_event", [](const Effort& effort) { return effort.per_event(static_cast<double>(effort.wchar)); });
  add("write_bytes_per_event",
      [](const Effort& effort) { return effort.per_event(static_cast<double>(effort.write_bytes)); });
  line.note = cost_note(line);
  return line;
}

}  // namespace waybill::bench
