#include "bench.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <sstream>
#include <thread>

#include "context.hpp"
#include "interrupt.hpp"
#include "measures.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "mysql_client.hpp"
#include "waybill/backends/mysql.hpp"
#endif
#ifdef WAYBILL_WITH_SQLITE
#include <sqlite3.h>

#include "waybill/backends/sqlite.hpp"
#endif

namespace waybill::bench {
namespace {

struct Measure {
  MeasureInfo info;
  void (*run)(Context&);
  enum class For { any, sqlite, mysql, mysql_by_name } store{For::any};
};

using For = Measure::For;

constexpr Measure kMeasures[] = {
    {{"append-1", "append one event a transaction"}, measure_append_1, For::any},
    {{"append-100", "append 100 events a transaction"}, measure_append_100, For::any},
    {{"claim-settle", "deliver a waiting backlog, 100 at a time"}, measure_claim_settle, For::any},
    {{"cycle-100", "append, claim and settle, 100 at a time"}, measure_cycle_100, For::any},
    {{"cycle-1000", "append, claim and settle, 1000 at a time"}, measure_cycle_1000, For::any},
    {{"bytes", "bytes written per event (runs append-1 and cycle-100)"}, measure_bytes, For::any},
    {{"group-commit", "8 producers through one Appender"}, measure_group_commit, For::any},
#ifdef WAYBILL_WITH_SQLITE
    {{"wakeup", "how soon another process sees a commit, and what waiting costs"}, measure_wakeup, For::sqlite},
    {{"contention", "the longest claim beside a tight writer in another process"}, measure_contention, For::sqlite},
    {{"ordered", "ordered claim with 10,000 blocked aggregates in front"}, measure_ordered, For::sqlite},
    {{"history", "the cycle at 100 beside 1,000,000 finished rows"}, measure_history, For::sqlite},
    {{"claim", "one claim beside 2,200,000 rows"}, measure_claim, For::sqlite},
    {{"relay", "waybill relay --drain of 1,000,000 events, and its memory"}, measure_relay, For::sqlite},
#endif
#ifdef WAYBILL_WITH_MYSQL
    {{"two-relays", "two relays on one table beside one"}, measure_mysql_relays, For::mysql},
    {{"mysql-claim", "one claim beside 1,100,000 rows, without and with an old snapshot open"},
     measure_mysql_claim,
     For::mysql},
    {{"mysql-ordered", "ordered drain with 10,000 blocked aggregates in front"}, measure_mysql_ordered, For::mysql},
    {{"deadlocks", "10 minutes of 4 producers, 3 relays and an archiver; only when named"},
     measure_mysql_deadlocks,
     For::mysql_by_name},
#endif
};

constexpr auto kInfos = [] {
  std::array<MeasureInfo, std::size(kMeasures)> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kMeasures[i].info;
  return infos;
}();

const Measure& measure_named(const std::string& name) {
  for (const Measure& measure : kMeasures)
    if (measure.info.name == name) return measure;
  std::vector<std::string> names;
  std::string list;
  for (const Measure& measure : kMeasures) {
    names.emplace_back(measure.info.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string near = nearest_name(name, names);
  throw ConfigError("no measure '" + name + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?") +
                    " The measures are " + list);
}

bool fits(For wanted, const OurStore& store) {
  if (wanted == For::sqlite) return store.is_sqlite();
  return wanted == For::any || store.is_mysql();
}

std::vector<const Measure*> chosen(const BenchOptions& options, const OurStore& store) {
  std::vector<const Measure*> list;
  for (const std::string& name : options.only)
    if (const For wanted = measure_named(name).store; !fits(wanted, store))
      throw ConfigError("measure '" + name + "' needs a " + (wanted == For::sqlite ? "sqlite:" : "mysql:") + " store");
  for (const Measure& measure : kMeasures) {
    const bool named = std::find(options.only.begin(), options.only.end(), measure.info.name) != options.only.end();
    const bool by_itself = measure.store != For::mysql_by_name && fits(measure.store, store);
    if (options.only.empty() ? by_itself : named) list.push_back(&measure);
  }
  return list;
}

std::string first_words(const std::string& file, int count) {
  std::ifstream stream(file);
  std::string line;
  std::string word;
  for (int i = 0; i < count && stream >> word; ++i) line += (i == 0 ? "" : " ") + word;
  return line;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.compare(0, 10, "model name") == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

std::string with_decimals(double value, int decimals) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

void describe(Context& context) {
  std::vector<Condition>& list = context.report.conditions;
  list.push_back({"store", context.store.url().redacted()});
  list.push_back({"machine", std::to_string(std::thread::hardware_concurrency()) + " CPUs (" + cpu_model() +
                                 "), load " + first_words("/proc/loadavg", 3)});
#ifdef WAYBILL_WITH_SQLITE
  if (context.store.is_sqlite()) {
    list.push_back({"SQLite", sqlite3_libversion()});
    list.push_back({"synchronous", context.full_sync ? "FULL" : "NORMAL"});
    list.push_back({"file system", context.workspace.file_system() + ", 4 KiB append + fdatasync " +
                                       with_decimals(context.workspace.sync_milliseconds(), 2) +
                                       " ms (median of 200)"});
  }
#endif
#ifdef WAYBILL_WITH_MYSQL
  if (context.store.is_mysql()) {
    list.push_back({"server", context.store.mysql().version()});
    list.push_back({"flush", context.store.mysql().flush_setting()});
    list.push_back({"indexes", mysql_options(context.store.url(), {}).full_indexes ? "full" : "lean"});
  }
#endif
  list.push_back({"payload", std::to_string(kPayloadBytes) + " bytes of JSON, event numbers in time order, " +
                                 std::to_string(kAggregates) + " aggregates evenly"});
  list.push_back({"rounds", std::to_string(context.rounds) + (context.options.quick ? ", quick: smaller counts" : "") +
                                ", the sides in turns; medians"});
#ifndef NDEBUG
  list.push_back({"build", "with assertions (Debug?): the numbers of ours are too low"});
#endif
}

bool is_full_sync([[maybe_unused]] const Url& url) {
#ifdef WAYBILL_WITH_SQLITE
  if (url.scheme == "sqlite") return sqlite_options(url, OpenContext{}).durability == Durability::full;
#endif
  return false;
}

}  // namespace

Sizes Sizes::quick() {
  Sizes sizes;
  sizes.chunks = 4;
  sizes.append_1 = 50;
  sizes.batch_100 = 1000;
  sizes.batch_1000 = 2000;
  sizes.finished = sizes.pending = 50'000;
  sizes.dead = sizes.future = 5'000;
  sizes.blocked = 1000;
  sizes.followers = 20;
  sizes.healthy = 5000;
  sizes.wakeups = 200;
  sizes.idle_seconds = 1;
  sizes.contention_seconds = 1;
  sizes.group = 400;
  sizes.drain = 50'000;
  return sizes;
}

void Context::progress(const std::string& text) const {
  if (options.progress != nullptr) *options.progress << "\r\x1b[K" << text << std::flush;
}

std::span<const MeasureInfo> measures() noexcept { return kInfos; }

int run(const BenchOptions& options, std::ostream& out) {
  const OurStore store(Url::parse(options.store));
  const std::vector<const Measure*> list = chosen(options, store);
  if (options.rounds > 99) throw ConfigError("--rounds takes 1 to 99");
  const bool full_sync = is_full_sync(store.url());
  const InterruptGuard guard;
  Workspace workspace(store.is_sqlite() ? std::filesystem::path(store.url().path)
                                        : std::filesystem::temp_directory_path());
  Report report;
  Context context{options, store, workspace, report, options.quick ? Sizes::quick() : Sizes{}};
  context.rounds = options.rounds != 0 ? options.rounds : options.quick ? 3 : 7;
  context.full_sync = full_sync;
  try {
    describe(context);
    for (const Measure* measure : list) {
      check_interrupt();
      measure->run(context);
    }
  } catch (const Interrupted&) {
    report.complete = false;
  }
  context.progress("");
  out << (options.json ? to_json(report) : to_table(report));
  return report.complete ? 0 : 1;
}

}  // namespace waybill::bench
