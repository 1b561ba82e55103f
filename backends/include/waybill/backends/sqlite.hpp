#pragma once
// The SQLite store, and what a program calls inside its own SQLite transaction.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waybill/event_repository.hpp"
#include "waybill/limits.hpp"
#include "waybill/registry.hpp"
#include "waybill/table_model.hpp"
#include "waybill/time.hpp"

struct sqlite3;

namespace waybill {

enum class Durability {
  full,    ///< an acknowledged event survives a power cut (one fsync a commit)
  normal,  ///< survives a crash of the process; a power cut may take the last commits, the file stays sound
};

/// When a bounded buffer has no room.
enum class OnFull {
  reject,       ///< append throws StorageError `full`
  drop_oldest,  ///< the oldest events that are not in progress are removed, counted and reported
};

struct SqliteOptions {
  std::string path;  ///< a file; relative to the working directory
  OpenMode mode{OpenMode::read_write};
  Durability durability{Durability::full};
  Duration busy_timeout{std::chrono::seconds{5}};  ///< how long a write waits for another process's lock
  Limits limits{};
  std::uint64_t max_events{0};  ///< unsettled events kept; 0: no bound
  std::uint64_t max_bytes{0};   ///< file + WAL on disk; 0: no bound; from 1 MiB
  OnFull on_full{OnFull::reject};
  bool quarantine{false};    ///< `recover=quarantine`: a damaged file is moved to `.corrupt-N`, a fresh one is started
  bool full_indexes{false};  ///< `init --indexes full`: the seed's whole set, for questions on big tables
  std::optional<TableModel> table;       ///< deliver from this table of the user's; empty: biz_outbox_event
  std::uint32_t checkpoint_pages{1000};  ///< WAL pages after which a checkpoint runs
  std::shared_ptr<const IClock> clock;   ///< empty: the system clock
  LogSink log;
};

/// Throws StorageError: `schema` (no tables, old, future), `corrupt`, `denied`, `unavailable`, `busy`.
[[nodiscard]] std::unique_ptr<IEventRepository> open_sqlite(const SqliteOptions& options);
/// `sqlite:PATH?options` -> options. Throws ConfigError.
[[nodiscard]] SqliteOptions sqlite_options(const Url& url, const OpenContext& context);
/// The table of URL options, for help and docs.
[[nodiscard]] std::span<const OptionSpec> sqlite_option_specs() noexcept;
/// The whole schema as SQL text that the plain client runs. With a table of the user's the file is opened to look at
/// it.
[[nodiscard]] std::string sqlite_schema_sql(const SqliteOptions& options);

/// Appends within the caller's transaction: the outbox pattern. Bound to one open connection, thread-confined like it.
/// Never begins, commits or rolls back. The tables must be there (`waybill init`).
class SqliteOutbox {
 public:
  struct Options {
    Limits limits{};
    std::uint64_t max_events{0};
    std::uint64_t max_bytes{0};
    OnFull on_full{OnFull::reject};
    std::shared_ptr<const IClock> clock;
  };
  /// Throws StorageError `schema` when the tables are not there.
  explicit SqliteOutbox(sqlite3* connection) : SqliteOutbox(connection, Options{}) {}
  SqliteOutbox(sqlite3* connection, Options options);
  ~SqliteOutbox();
  SqliteOutbox(SqliteOutbox&&) noexcept;
  SqliteOutbox& operator=(SqliteOutbox&&) noexcept;

  /// Throws StorageError `invalid` when no transaction is open: an event without its data is what an outbox is to
  /// prevent. Throws InvalidEvent, `full`, `busy` as IDeliveryStore::append; the caller then rolls back.
  [[nodiscard]] AppendResult append(const NewEvent& event);
  [[nodiscard]] std::vector<AppendResult> append(std::span<const NewEvent> events);

  /// What a connection that shares the file should have: our busy handler (short naps instead of SQLite's growing
  /// ones), no automatic checkpoints (SQLite before 3.51.3 may lose commits when one connection commits while another
  /// checkpoints), synchronous=FULL.
  static void configure(sqlite3* connection, Duration busy_timeout = std::chrono::seconds{5});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The consumer's side: exactly-once effects. All within the caller's transaction.
class SqliteInbox {
 public:
  explicit SqliteInbox(sqlite3* connection, std::shared_ptr<const IClock> clock = {});
  ~SqliteInbox();
  /// True the first time this consumer sees the event: do the work, then commit both. False: done before, skip it.
  [[nodiscard]] bool consume_once(std::string_view consumer, std::string_view event_no);
  /// Forgets entries older than `before`, at most `limit`; returns how many.
  [[nodiscard]] std::size_t forget(Timestamp before, std::size_t limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace waybill
