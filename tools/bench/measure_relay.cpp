// The real command: `waybill relay --drain` into a file, beside the store's own claim and settle rate.

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>

#include "fixture.hpp"
#include "interrupt.hpp"
#include "measures.hpp"
#include "process.hpp"

namespace waybill::bench {
namespace {

constexpr std::size_t kBatch = 100;  // the relay's default

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::uint64_t lines_in(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 65536> block{};
  std::uint64_t lines = 0;
  while (stream.read(block.data(), block.size()) || stream.gcount() > 0)
    lines += static_cast<std::uint64_t>(std::count(block.data(), block.data() + stream.gcount(), '\n'));
  return lines;
}

/// Events per second of the same loop without anybody to deliver to.
double own_rate(Context& context, const std::filesystem::path& file, std::uint64_t events) {
  context.progress("relay: the store's own claim and settle rate");
  OurLoop loop(context.store.open(file));
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  while (done < events) {
    check_interrupt();
    const std::size_t claimed = loop.relay(kBatch);
    if (claimed == 0) throw std::runtime_error("a claim came back empty although events wait");
    done += claimed;
  }
  loop.finish();
  return static_cast<double>(done) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string program_of(const BenchOptions& options) {
  return options.command.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : options.command;
}

ProgramRun drain(Context& context, const std::filesystem::path& file, std::uint64_t events) {
  context.progress("relay: waybill relay --drain");
  const std::filesystem::path output = context.workspace.folder() / "relay-out.ndjson";
  const std::filesystem::path errors = context.workspace.folder() / "relay-errors.txt";
  const ProgramRun run = run_program({program_of(context.options), "relay", "--store", context.store.url_of(file),
                                      "--to", "stdout:", "--drain", "--batch", std::to_string(kBatch)},
                                     output, errors);
  if (run.exit_status != 0)
    throw std::runtime_error("waybill relay ended with status " + std::to_string(run.exit_status) + ": " +
                             first_line(errors));
  const std::uint64_t lines = lines_in(output);
  if (lines != events)
    throw std::runtime_error("waybill relay wrote " + std::to_string(lines) + " lines for " + std::to_string(events) +
                             " events");
  std::filesystem::remove(output);
  return run;
}

}  // namespace

void measure_relay(Context& context) {
  const std::uint64_t events = context.sizes.drain;
  context.workspace.require_room(events * 3'000);
  const std::filesystem::path file = context.workspace.fresh("relay");
  const std::filesystem::path own = context.workspace.fresh("relay-own");
  context.store.create(file);
  context.progress("relay: writing " + std::to_string(events) + " pending rows");
  fill(file, {RowKind::pending, 1, events});
  copy_database(file, own);
  // Before and after, as the disk's speed drifts.
  const double before = own_rate(context, own, events / 4);
  const ProgramRun run = drain(context, file, events);
  const double after = own_rate(context, own, events / 4);
  remove_database(file);
  remove_database(own);

  const double rate = static_cast<double>(events) / run.seconds;
  Measurement line;
  line.name = "relay";
  line.title = "relay --drain to a file";
  line.unit = "events/s";
  line.ours = rate;
  line.other = 2 / (1 / before + 1 / after);
  line.other_is = "the store's own claim and settle rate, before and after";
  line.ratio = Spread{rate / *line.other, rate / std::max(before, after), rate / std::min(before, after)};
  line.goal = Goal{Goal::Kind::ratio_at_least, 0.6};
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "%llu events, against the store's own claim and settle rate; CPU %.1f us/event",
                static_cast<unsigned long long>(events), run.cpu_seconds * 1e6 / static_cast<double>(events));
  line.note = text.data();
  line.details = {{"own_rate_before", before}, {"own_rate_after", after}, {"cpu_seconds", run.cpu_seconds}};
  context.add(std::move(line));
  Measurement memory;
  memory.name = "relay";
  memory.title = "its peak memory (RSS)";
  memory.unit = "MB";
  memory.ours = static_cast<double>(run.peak_rss_bytes) / 1e6;
  memory.goal = Goal{Goal::Kind::ours_below, 64};
  context.add(std::move(memory));
}

}  // namespace waybill::bench
