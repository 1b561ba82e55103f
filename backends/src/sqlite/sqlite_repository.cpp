#include "sqlite/sqlite_repository.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "common/requests.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_quarantine.hpp"
#include "sqlite/sqlite_schema.hpp"
#include "sqlite/sqlite_writer.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;

SqliteOptions completed(SqliteOptions options) {
  if (options.clock == nullptr) options.clock = std::make_shared<const SystemClock>();
  // Half of the WAL's share, so that a transaction fits in behind what makes a checkpoint due.
  if (options.max_bytes != 0)
    options.checkpoint_pages = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(options.checkpoint_pages, wal_share(options.max_bytes) / 2 / 4096));
  return options;
}

/// Of successes written together, some were fenced. Never leaves this file.
struct SomeFenced {};

std::size_t successes_in_front(std::span<const Settlement> settlements) {
  const Token& first = settlements.front().token;
  const auto end = std::find_if(settlements.begin(), settlements.end(), [&](const Settlement& one) {
    return one.command != Command::succeed || one.token.version != first.version || one.token.owner != first.owner;
  });
  return static_cast<std::size_t>(end - settlements.begin());
}

std::string_view settle_text(Command command) {
  switch (command) {
    case Command::succeed:
      return texts::settle_succeed;
    case Command::fail:
      return texts::settle_fail;
    case Command::reject:
      return texts::settle_reject;
    case Command::release:
      return texts::settle_release;
    case Command::expire:
      return texts::settle_expire;
    default:
      throw StorageError(ErrorCode::invalid, "settle: '" + std::string(to_string(command)) + "' is no outcome");
  }
}

}  // namespace

SqliteRepository::Session::Session(const SqliteOptions& options)
    : connection(options), scanner(connection.statements()) {
  Statements& statements = connection.statements();
  require_current(statements, "'" + options.path + "'");
  if (!options.table) return;
  adopted.emplace(statements, read_table(statements, *options.table), *options.clock,
                  options.mode != OpenMode::read_only);
}

SqliteRepository::SqliteRepository(SqliteOptions options)
    : options_(completed(std::move(options))),
      bounds_{options_.max_events, options_.max_bytes, options_.on_full},
      wakeup_(options_.path + "-wal") {
  open();
  if (adopted() && options_.mode != OpenMode::read_only) adopted()->check_at_start(options_.log);
}

void SqliteRepository::open() {
  session_.reset();
  Recovery recovery;
  if (options_.quarantine && options_.mode != OpenMode::read_only)
    recovery = recover_if_damaged(options_, [&] { create_tables(); });
  if (!recovery.fresh && options_.mode == OpenMode::create) create_tables();
  session_ = std::make_unique<Session>(options_);
  wakeup_.rearm();  // the file may be another one than before
  broken_ = false;
  changed_ = true;
  if (!recovery.fresh) return;
  if (!recovery.set_aside.empty()) set_note("quarantined", recovery.set_aside);
  if (options_.log)
    options_.log(LogLevel::error,
                 "'" + options_.path + "' was " +
                     (recovery.set_aside.empty() ? "empty" : "damaged; it is kept as '" + recovery.set_aside + "'") +
                     ", a fresh store was started");
}

void SqliteRepository::create_tables() {
  SqliteOptions creating = options_;
  creating.mode = OpenMode::create;
  Connection connection(creating);
  migrate(connection.statements(), options_.full_indexes, now());
  try {
    create_delivery_table(connection.statements(), *known_table("biz_message_event"));
  } catch (const StorageError& error) {
    // Somebody's own table of that name is no reason to have no outbox.
    if (error.code() != ErrorCode::schema) throw;
    if (options_.log)
      options_.log(LogLevel::warning, std::string("`waybill work` is not possible here: ") + error.what());
  }
  if (options_.table) create_delivery_table(connection.statements(), *options_.table);
}

void SqliteRepository::rethrow_with(const char* doing, const StorageError& error) {
  // After a failed sync the kernel may have forgotten which pages were not written: a fresh handle reads what is there.
  // A damaged file is opened again for recover=quarantine.
  const ErrorCode code = error.code();
  if (code == ErrorCode::unavailable || code == ErrorCode::outcome_unknown || code == ErrorCode::corrupt)
    broken_ = true;
  if (dynamic_cast<const InvalidEvent*>(&error) != nullptr) throw;
  throw StorageError(error.code(), std::string(doing) + " on '" + options_.path + "': " + error.what());
}

// A deleted or replaced file would swallow our commits.
void SqliteRepository::require_in_place() {
  int moved = 0;
  if (sqlite3_file_control(session_->connection.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
      moved != 0) {
    throw StorageError(ErrorCode::unavailable, "the file was moved or removed while open");
  }
}

bool SqliteRepository::has_wal_room(std::uint64_t incoming) {
  return bounds_.max_bytes == 0 || session_->connection.wal_bytes() + incoming <= wal_share(bounds_.max_bytes);
}

// The WAL of a bounded store starts over, and is cut, with the first commit after a complete checkpoint, unless
// somebody reads just then. Such a commit makes the WAL longer when it does not start over: hence `restarts_left`.
void SqliteRepository::make_wal_room(std::uint64_t incoming, int& restarts_left) {
  const bool emptied = guarded(
      "append", [&] { return !has_wal_room(incoming) && session_->connection.checkpoint(options_.busy_timeout); });
  if (!emptied || restarts_left == 0) return;
  --restarts_left;
  (void)write("append", [&] {
    add_to_counter(statements(), "wal_restarts", 1);
    return 0;
  });
}

Appended SqliteRepository::append_within_bounds(std::span<const NewEvent> events) {
  constexpr int kFewest = 3;
  constexpr Duration kLongest = std::chrono::seconds{1};
  const std::uint64_t wal_need = wal_bytes_needed(events);
  if (bounds_.max_bytes != 0 && wal_need > wal_share(bounds_.max_bytes))
    throw StorageError(ErrorCode::full,
                       "append on '" + options_.path + "': " + std::to_string(events.size()) +
                           " events at once are too much for max_bytes=" + std::to_string(bounds_.max_bytes) +
                           "; append fewer, or raise it; nothing was written");
  const auto give_up = std::chrono::steady_clock::now() + std::min(options_.busy_timeout, kLongest);
  int restarts_left = 6;
  Duration nap = std::chrono::milliseconds{1};
  for (int attempt = 1;; ++attempt) {
    make_wal_room(wal_need, restarts_left);
    std::optional<Appended> appended = write("append", [&]() -> std::optional<Appended> {
      if (!has_wal_room(wal_need)) return std::nullopt;  // others have committed meanwhile, or somebody reads
      return append_events(statements(), events, bounds_, now());
    });
    if (appended) return std::move(*appended);
    if (attempt >= kFewest && std::chrono::steady_clock::now() >= give_up) break;
    std::this_thread::sleep_for(nap);
    nap = std::min<Duration>(nap * 2, std::chrono::milliseconds{50});
  }
  throw StorageError(ErrorCode::full,
                     "append on '" + options_.path + "': a reader keeps the WAL from starting over, and max_bytes=" +
                         std::to_string(bounds_.max_bytes) +
                         " leaves no room behind it; end long reads and try again; nothing was written");
}

void SqliteRepository::report_dropped(std::uint64_t dropped) {
  if (dropped != 0 && options_.log)
    options_.log(LogLevel::warning,
                 "the buffer is full: " + std::to_string(dropped) + " undelivered events were dropped, oldest first");
}

std::vector<AppendResult> SqliteRepository::append(std::span<const NewEvent> events) {
  require_valid(events, options_.limits);
  if (events.empty()) return {};
  if (options_.table) {
    changed_ = true;
    return write("append", [&] { return adopted()->append(events, now()); });
  }
  Appended appended = append_within_bounds(events);
  changed_ = true;
  report_dropped(appended.dropped);
  return std::move(appended.results);
}

ClaimResult SqliteRepository::claim_within(const ClaimRequest& request) {
  const auto scan = [&](const ClaimRequest& what) { return session_->scanner.claim(what, now()); };
  ClaimResult result = adopted() ? adopted()->claim(request, scan) : scan(request);
  // Nobody else can commit while we hold the write lock: what comes after this is new.
  session_->seen_version = session_->connection.data_version();
  return result;
}

void SqliteRepository::prepare_claim(const ClaimRequest& request) {
  backends::require_sensible(request);
  if (request.ordering != Ordering::aggregate) return;
  guarded("claim", [&] {
    if (!session_->order_index) ensure_order_index(statements());
    session_->order_index = true;
  });
}

ClaimResult SqliteRepository::claim(const ClaimRequest& request) {
  prepare_claim(request);
  ClaimResult result = write("claim", [&] { return claim_within(request); });
  changed_ = false;
  return result;
}

SettleStatus SqliteRepository::settle_one(const Settlement& settlement, Timestamp now) {
  const Token& token = settlement.token;
  Statement& row = statements().get(settle_text(settlement.command));
  const std::string reason = clip_reason(settlement.reason);
  row.bind(1, token.id).bind(2, std::int64_t{token.version}).bind(3, token.owner).bind(4, now);
  if (settlement.command != Command::succeed) row.bind(5, settlement.next_retry_time);
  if (settlement.command != Command::succeed && settlement.command != Command::release) row.bind(6, reason);
  if (row.run() == 0) return SettleStatus::fenced;
  if (settlement.cancel_if_dead) statements().get(texts::cancel_dead).bind(1, token.id).bind(2, now).run();
  if (session_->scanner.wants_hints()) session_->scanner.hint(token.id);
  return SettleStatus::applied;
}

template <class Work>
auto SqliteRepository::settling(Work work) -> decltype(work(Rows::together)) {
  try {
    return work(Rows::together);
  } catch (const SomeFenced&) {
    return work(Rows::one_by_one);
  }
}

void SqliteRepository::succeed_together(std::span<const Settlement> settlements, Timestamp now) {
  const std::string ids = json_list(settlements, [](const Settlement& one) { return one.token.id; });
  const Token& token = settlements.front().token;
  Statement& rows = statements().get(texts::settle_succeed_rows);
  rows.bind(1, ids).bind(2, std::int64_t{token.version}).bind(3, token.owner).bind(4, now);
  if (rows.run() != static_cast<std::int64_t>(settlements.size())) throw SomeFenced{};
  if (!session_->scanner.wants_hints()) return;
  for (const Settlement& settlement : settlements) session_->scanner.hint(settlement.token.id);
}

std::vector<SettleStatus> SqliteRepository::settle_within(std::span<const Settlement> settlements, Rows rows) {
  std::vector<SettleStatus> statuses;
  statuses.reserve(settlements.size());
  const Timestamp time = now();
  const std::span<const Settlement> all = settlements;
  while (!settlements.empty()) {
    const std::size_t run = rows == Rows::together ? successes_in_front(settlements) : 0;
    if (run > 1) {
      succeed_together(settlements.first(run), time);
      statuses.insert(statuses.end(), run, SettleStatus::applied);
      settlements = settlements.subspan(run);
    } else {
      statuses.push_back(settle_one(settlements.front(), time));
      settlements = settlements.subspan(1);
    }
  }
  if (adopted()) adopted()->show_settled(all, statuses);
  return statuses;
}

std::vector<SettleStatus> SqliteRepository::settle(std::span<const Settlement> settlements) {
  backends::require_sensible(settlements);
  if (settlements.empty()) return {};
  auto statuses =
      settling([&](Rows rows) { return write("settle", [&] { return settle_within(settlements, rows); }); });
  changed_ = true;
  return statuses;
}

ExchangeResult SqliteRepository::exchange(std::span<const Settlement> settlements, const ClaimRequest& request) {
  backends::require_sensible(settlements);
  prepare_claim(request);
  ExchangeResult result = settling([&](Rows rows) {
    return write("exchange", [&] {
      ExchangeResult both;
      both.settled = settle_within(settlements, rows);
      both.claimed = claim_within(request);
      return both;
    });
  });
  changed_ = false;
  return result;
}

std::vector<SettleStatus> SqliteRepository::extend(std::span<const Token> tokens, Duration lease) {
  if (tokens.empty()) return {};
  return write("extend", [&] {
    std::vector<SettleStatus> statuses;
    const Timestamp time = now();
    for (const Token& token : tokens) {
      Statement& row = statements().get(texts::extend);
      row.bind(1, token.id)
          .bind(2, std::int64_t{token.version})
          .bind(3, token.owner)
          .bind(4, time)
          .bind(5, time + lease);
      statuses.push_back(row.run() == 0 ? SettleStatus::fenced : SettleStatus::applied);
    }
    return statuses;
  });
}

std::vector<ExpiredLease> SqliteRepository::expired(std::size_t limit) {
  return guarded("expired", [&] {
    std::vector<ExpiredLease> leases;
    const Query query(statements().get(texts::expired));
    query->bind(1, now()).bind(2, static_cast<std::int64_t>(limit));
    while (query->step())
      leases.push_back(
          {Token{query->integer(0), static_cast<std::int32_t>(query->integer(1)), std::string(query->text(2))},
           std::string(query->text(3)), static_cast<std::int32_t>(query->integer(4)),
           static_cast<std::int32_t>(query->integer(5))});
    return leases;
  });
}

bool SqliteRepository::wait_for_work(Duration timeout) {
  return guarded("wait", [&] {
    if (changed_ || session_->seen_version < 0) {
      changed_ = false;
      return true;
    }
    return wakeup_.wait(session_->connection, session_->seen_version, timeout);
  });
}

}  // namespace waybill::sqlite

namespace waybill {

std::unique_ptr<IEventRepository> open_sqlite(const SqliteOptions& options) {
  return std::make_unique<sqlite::SqliteRepository>(options);
}

}  // namespace waybill
