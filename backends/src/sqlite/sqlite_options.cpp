// `sqlite:PATH?options`.

#include <algorithm>
#include <array>

#include "waybill/backends/sqlite.hpp"

namespace waybill {
namespace {

constexpr std::array<OptionSpec, 10> kSpecs{{
    {"synchronous", OptionType::choice, "full",
     "full: a commit survives a power cut; normal: a power cut may take the last ones", "full|normal"},
    {"busy_timeout", OptionType::duration, "5s", "how long a write waits for another process's lock; 0: not at all",
     "0ms..10m"},
    {"max_payload", OptionType::bytes, "1MiB", "largest event_payload", "1..1GiB"},
    {"max_events", OptionType::integer, "0", "bound on unfinished events; 0: none", "0.."},
    {"max_bytes", OptionType::bytes, "0", "bound on file and WAL together; 0: none, else from 1MiB", "0.."},
    {"on_full", OptionType::choice, "reject", "at a bound: refuse new events, or drop the oldest and count them",
     "reject|drop_oldest"},
    {"recover", OptionType::choice, "none",
     "quarantine: a damaged file is moved to PATH.corrupt-N and a fresh one started", "none|quarantine"},
    {"indexes", OptionType::choice, "lean", "init: lean, or the seed's whole set for questions on big tables",
     "lean|full"},
    {"table", OptionType::text, "",
     "deliver from your own table: biz_message_event, domain_event_outbox, outbox, or that of [table] in --config"},
    {"checkpoint_pages", OptionType::integer, "1000", "WAL pages (of 4 KiB) after which a checkpoint runs",
     "100..1000000"},
}};

constexpr std::uint64_t kSmallestBound = 1U << 20;

}  // namespace

std::span<const OptionSpec> sqlite_option_specs() noexcept { return kSpecs; }

SqliteOptions sqlite_options(const Url& url, const OpenContext& context) {
  if (!url.host.empty() || !url.user.empty() || url.port)
    throw ConfigError("'" + url.redacted() +
                      "': sqlite takes a path, not a host; write sqlite:orders.db or sqlite:///var/orders.db");
  if (url.path.empty()) throw ConfigError("'" + url.redacted() + "': the path is missing; write sqlite:orders.db");
  const Options given(url, kSpecs);
  SqliteOptions options;
  options.path = url.path;
  options.mode = context.mode;
  options.durability = given.text("synchronous") == "full" ? Durability::full : Durability::normal;
  options.busy_timeout = given.duration("busy_timeout");
  options.limits.max_payload_bytes = given.bytes("max_payload");
  options.max_events = static_cast<std::uint64_t>(given.integer("max_events"));
  options.max_bytes = given.bytes("max_bytes");
  if (options.max_bytes != 0 && options.max_bytes < kSmallestBound)
    throw ConfigError("'" + url.redacted() + "': max_bytes is below 1MiB; an empty file with its WAL needs that much");
  options.on_full = given.text("on_full") == "reject" ? OnFull::reject : OnFull::drop_oldest;
  options.quarantine = given.text("recover") == "quarantine";
  options.table = chosen_table(given.text("table"), context.table);
  options.full_indexes = given.text("indexes") == "full";
  options.checkpoint_pages = static_cast<std::uint32_t>(given.integer("checkpoint_pages"));
  // A WAL that may grow to a quarter of the bound leaves room for the file.
  if (options.max_bytes != 0)
    options.checkpoint_pages =
        std::min(options.checkpoint_pages,
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(options.max_bytes / 16384, 1U << 20)));
  options.clock = context.clock;
  options.log = context.log;
  return options;
}

}  // namespace waybill
