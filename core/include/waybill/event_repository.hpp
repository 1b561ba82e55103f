#pragma once
// The port to a store. Three small interfaces (delivery, questions, upkeep) and their sum, IEventRepository.
//
// Thread rule of all: thread-compatible, one instance per thread; only wake() may be called from another one.
// Errors of all: StorageError. After `busy` nothing was written and the call may be repeated; after `outcome_unknown`
// ask find() first. Any other failure leaves the store as it was before the call.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/daily_stats.hpp"
#include "waybill/error.hpp"
#include "waybill/event.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill/routing.hpp"

namespace waybill {

enum class AppendStatus {
  inserted,
  duplicate,  ///< the number is there (or archived) with the same content: nothing to do
  conflict,   ///< the number is there with other content: nothing was changed
};

struct AppendResult {
  AppendStatus status{AppendStatus::inserted};
  std::int64_t id{0};      ///< of the stored event
  std::string difference;  ///< conflict: the first column that differs
};

enum class Ordering {
  none,
  aggregate,  ///< an event waits for every earlier unsettled event of its aggregate that is not in the same claim
};

/// What a dead event at the head of its aggregate does to those behind it.
enum class DeadHead { block, skip };

struct ClaimRequest {
  std::string owner;       ///< 1..128 characters; names the claimer in `locked_by`
  std::size_t limit{100};  ///< at most so many events; from 1
  Duration lease{std::chrono::seconds{30}};
  Ordering ordering{Ordering::none};
  DeadHead dead_head{DeadHead::block};
  RouteFilter routes;  ///< empty: every event
  unsigned retry_percent{
      25};  ///< share of the claim kept for due retries, and the same again for due scheduled events; lent when unused
};

/// How many places of a claim are kept for due retries and for due scheduled events. A claim looks at retries up to
/// their share, scheduled ones up to theirs, new ones for all the rest, and lends what is left to retries, then to
/// scheduled. Claims of fewer than 3 take turns instead: `turn` counts the claims of one repository instance.
struct ClaimShares {
  std::size_t retries{0};
  std::size_t scheduled{0};
};
[[nodiscard]] ClaimShares claim_shares(std::size_t limit, unsigned retry_percent, std::uint64_t turn) noexcept;

struct ClaimResult {
  std::vector<Event> events;  ///< in id order, each in progress and held by the owner
  bool more{false};           ///< the store stopped looking before it had seen all: claim again at once
  std::optional<Timestamp>
      next_due;  ///< when the earliest event that is not due yet will be; only set when fewer than `limit` were taken
};

/// The outcome of a claimed event.
struct Settlement {
  Token token;
  Command command{Command::succeed};         ///< succeed, fail, reject, release or expire
  std::optional<Timestamp> next_retry_time;  ///< fail, expire: when again; release: due at (nullopt: at once)
  std::string reason;                        ///< fail, reject, expire
  bool cancel_if_dead{false};                ///< an event that this settlement makes dead is cancelled in the same step
};

enum class SettleStatus {
  applied,
  fenced,  ///< the token is no longer valid: nothing was changed
};

struct ExchangeResult {
  std::vector<SettleStatus> settled;
  ClaimResult claimed;
};

/// An event in progress whose lease has run out.
struct ExpiredLease {
  Token token;
  std::string event_type;
  std::int32_t retry_count{0};
  std::int32_t max_retry_count{0};
};

/// What the relay needs.
class IDeliveryStore {
 public:
  virtual ~IDeliveryStore() = default;

  /// All in one transaction, in order; the ids rise in the order given. Checks limits.hpp first (InvalidEvent).
  /// Throws `full` when the bounded buffer or the disk has no room: nothing was inserted.
  [[nodiscard]] virtual std::vector<AppendResult> append(std::span<const NewEvent> events) = 0;
  /// Takes due events for an owner, oldest first, in one short write transaction.
  [[nodiscard]] virtual ClaimResult claim(const ClaimRequest& request) = 0;
  /// One status per settlement, in order. A fenced one changes nothing and does not disturb the others.
  [[nodiscard]] virtual std::vector<SettleStatus> settle(std::span<const Settlement> settlements) = 0;
  /// Settles, then claims; stores that can do both in one write transaction (one fsync) override it.
  [[nodiscard]] virtual ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request);
  /// Heartbeat: the leases end `lease` after now. A fenced token is not extended.
  [[nodiscard]] virtual std::vector<SettleStatus> extend(std::span<const Token> tokens, Duration lease) = 0;
  /// Events in progress whose lease has run out, longest first. Settle them with Command::expire.
  [[nodiscard]] virtual std::vector<ExpiredLease> expired(std::size_t limit) = 0;

  /// The store's clock: leases and due times come from here and nowhere else.
  [[nodiscard]] virtual Timestamp now() = 0;
  /// Blocks until there may be new work, wake() is called or `timeout` has passed. A hint: true says "look", false
  /// promises nothing. A commit of anybody since the last claim counts as new work.
  virtual bool wait_for_work(Duration timeout) = 0;
  /// Ends a running or the next wait_for_work at once. Thread-safe.
  virtual void wake() noexcept = 0;
};

/// Conditions are joined by "and"; what is not set does not matter. Deleted events never match.
struct EventFilter {
  std::vector<Status> statuses;  ///< any of these; empty: all
  std::optional<bool> dead;
  bool due{false};            ///< failed or pending, due now, not dead
  bool lease_expired{false};  ///< in progress, lease ran out
  std::optional<std::string> event_no;
  std::optional<std::string> aggregate_type;
  std::optional<std::string> aggregate_id;
  std::optional<std::string> event_type;
  std::optional<std::string> topic;
  std::optional<std::string> publish_channel;
  std::optional<std::string> trace_id;
  std::optional<Timestamp> created_from;   ///< inclusive
  std::optional<Timestamp> created_until;  ///< exclusive
  std::optional<std::int32_t> min_retry_count;
};

/// Keyset paging by id.
struct Page {
  std::size_t limit{100};
  bool newest_first{false};
  std::optional<std::int64_t> after_id;  ///< the last id of the page before
};

struct StatsRequest {
  std::optional<std::string> event_type;
  std::optional<std::string> topic;
  std::optional<Timestamp> created_from;   ///< inclusive
  std::optional<Timestamp> created_until;  ///< exclusive
};

struct Stats {
  std::array<std::uint64_t, 5> by_status{};  ///< index: the status number
  std::uint64_t dead{0};                     ///< part of failed
  std::optional<Timestamp> oldest_pending;   ///< create_time of the pending event with the smallest id
  // Of the whole store, whatever the request says:
  std::uint64_t archived{0};  ///< rows in the archive table
  std::uint64_t purged{0};    ///< removed for good by purge
  std::uint64_t dropped{0};   ///< removed undelivered by a full buffer

  [[nodiscard]] std::uint64_t of(Status status) const { return by_status[static_cast<std::size_t>(status)]; }
};

/// Pending + in progress + failed-and-retryable.
struct Backlog {
  std::uint64_t pending{0};
  std::uint64_t in_progress{0};
  std::uint64_t retryable{0};
  std::optional<Timestamp> oldest;  ///< create_time of the one with the smallest id
  [[nodiscard]] std::uint64_t depth() const { return pending + in_progress + retryable; }
};

/// Unfinished events (pending, in progress, failed) by destination.
struct ChannelBacklog {
  std::string publish_channel;
  std::optional<std::string> topic;
  std::uint64_t unsettled{0};
};

/// One line of `waybill doctor`.
struct Finding {
  enum class Level { ok, warning, error };
  Level level{Level::ok};
  std::string name;    ///< short and stable: `schema`, `claim-plan`
  std::string detail;  ///< what was seen
  std::string advice;  ///< what to do; empty when ok
};

/// What a person asks. None of these writes, but set_note.
class IEventQueries {
 public:
  virtual ~IEventQueries() = default;
  [[nodiscard]] virtual std::optional<Event> find(std::string_view event_no) = 0;
  [[nodiscard]] virtual std::vector<Event> query(const EventFilter& filter, const Page& page) = 0;
  [[nodiscard]] virtual Stats stats(const StatsRequest& request) = 0;
  /// What rollup() has kept, by day, type and status; counts above 0 only. As old as the last rollup.
  [[nodiscard]] virtual std::vector<DailyCount> daily_stats(const DailyStatsRequest& request) = 0;
  [[nodiscard]] virtual Backlog backlog() = 0;
  [[nodiscard]] virtual std::vector<ChannelBacklog> backlog_by_channel() = 0;
  [[nodiscard]] virtual std::vector<Finding> diagnose() = 0;
  /// Small facts kept with the store (the relay's routes, say). nullopt when never set.
  [[nodiscard]] virtual std::optional<std::string> note(std::string_view name) = 0;
  virtual void set_note(std::string_view name, std::string_view value) = 0;
};

/// What an operator does. Every call is one bounded transaction; repeat until it returns 0 (rollup: while there is
/// more).
class IEventUpkeep {
 public:
  virtual ~IEventUpkeep() = default;
  /// Failed events that match: back to pending, budget afresh, due now. Returns how many, at most `limit`.
  [[nodiscard]] virtual std::size_t requeue(const EventFilter& filter, std::size_t limit) = 0;
  /// Pending and failed events that match: cancelled.
  [[nodiscard]] virtual std::size_t cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) = 0;
  /// Moves succeeded and cancelled events last changed before `before` to the archive table.
  [[nodiscard]] virtual std::size_t archive(Timestamp before, std::size_t limit) = 0;
  /// Removes succeeded and cancelled events last changed before `before` for good, archived or not. Never any other.
  [[nodiscard]] virtual std::size_t purge(Timestamp before, std::size_t limit) = 0;
  /// Brings the daily counts up to date, at most `limit` days of them, the earliest first: see daily_stats.hpp.
  [[nodiscard]] virtual RollupResult rollup(std::size_t limit) = 0;
};

class IEventRepository : public IDeliveryStore, public IEventQueries, public IEventUpkeep {};

}  // namespace waybill
