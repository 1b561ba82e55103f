#include "waybill/backends/builtin.hpp"

#include <array>
#include <map>
#include <mutex>

#include "waybill/backends/memory.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "waybill/backends/mysql.hpp"
#endif
#ifdef WAYBILL_WITH_SQLITE
#include "waybill/backends/sqlite.hpp"
#endif

namespace waybill {
namespace {

constexpr std::array<OptionSpec, 3> kMemoryOptions{{
    {"max_payload", OptionType::bytes, "1MiB", "largest payload of an event", "1.."},
    {"max_events", OptionType::integer, "0", "unsettled events kept; 0: no bound", "0.."},
    {"on_full", OptionType::choice, "reject", "when max_events is reached: refuse, or drop the oldest (counted)",
     "reject|drop_oldest"},
}};

/// The named databases of one registry. They live as long as it does (and its copies). Thread-safe.
class NamedDatabases {
 public:
  std::shared_ptr<MemoryDatabase> open(const Url& url, const OpenContext& context) {
    if (url.has_authority)
      throw ConfigError("store '" + url.redacted() + "': memory: takes no host, write memory: or memory:NAME");
    MemoryOptions wanted = read(url, context);
    if (url.path.empty()) return make_memory_database(std::move(wanted));
    const std::lock_guard lock(mutex_);
    const auto [entry, created] = databases_.try_emplace(url.path);
    Named& named = entry->second;
    if (created) {
      named.options = wanted;
      named.database = make_memory_database(std::move(wanted));
    } else if (!url.query.empty() && !same(named.options, wanted)) {
      throw ConfigError("store '" + url.redacted() + "': memory:" + url.path +
                        " is there already with other options; leave them out or repeat the first ones");
    }
    return named.database;
  }

 private:
  struct Named {
    MemoryOptions options;
    std::shared_ptr<MemoryDatabase> database;
  };

  [[nodiscard]] static MemoryOptions read(const Url& url, const OpenContext& context) {
    const Options given(url, kMemoryOptions);
    MemoryOptions options;
    options.clock = context.clock;
    options.limits.max_payload_bytes = static_cast<std::size_t>(given.bytes("max_payload"));
    options.max_events = static_cast<std::size_t>(given.integer("max_events"));
    options.drop_oldest = given.text("on_full") == "drop_oldest";
    return options;
  }

  [[nodiscard]] static bool same(const MemoryOptions& a, const MemoryOptions& b) {
    return a.limits.max_payload_bytes == b.limits.max_payload_bytes && a.max_events == b.max_events &&
           a.drop_oldest == b.drop_oldest;
  }

  std::mutex mutex_;
  std::map<std::string, Named> databases_;
};

}  // namespace

void register_builtin_backends(BackendRegistry& registry) {
  const auto databases = std::make_shared<NamedDatabases>();
  registry.add("memory",
               {[databases](const Url& url, const OpenContext& context) {
                  return make_memory_repository(databases->open(url, context));
                },
                "memory:[NAME]", "in this process only; those who open the same NAME share it", kMemoryOptions});
#ifdef WAYBILL_WITH_SQLITE
  registry.add("sqlite",
               {[](const Url& url, const OpenContext& context) { return open_sqlite(sqlite_options(url, context)); },
                "sqlite:PATH", "a file on this machine, shared by any number of processes", sqlite_option_specs()});
#endif
#ifdef WAYBILL_WITH_MYSQL
  for (const char* scheme : {"mysql", "mariadb"})
    registry.add(scheme,
                 {[](const Url& url, const OpenContext& context) { return open_mysql(mysql_options(url, context)); },
                  std::string(scheme) + "://USER@HOST[:PORT]/DATABASE", "MySQL or MariaDB", mysql_option_specs()});
#endif
}

}  // namespace waybill
