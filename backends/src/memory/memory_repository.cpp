// The reference model of all stores: each method says what the port means, in the plainest way that is still fast.

#include <algorithm>
#include <limits>

#include "common/requests.hpp"
#include "memory_database.hpp"
#include "memory_selection.hpp"

namespace waybill {
namespace {

/// The condition variable can't add much more than this to its clock; the caller just looks again.
constexpr Duration kLongestWait = std::chrono::hours{24};

[[nodiscard]] bool fits(const std::optional<std::string>& wanted, const std::optional<std::string>& value) {
  return !wanted || wanted == value;
}

[[nodiscard]] bool matches(const EventFilter& filter, const Event& event, Timestamp now) {
  if (!filter.statuses.empty() &&
      std::find(filter.statuses.begin(), filter.statuses.end(), event.publish_status) == filter.statuses.end())
    return false;
  if (filter.dead && *filter.dead != is_dead(event)) return false;
  if (filter.due && !is_claimable(event, now)) return false;
  if (filter.lease_expired && !(event.publish_status == Status::in_progress && event.lock_until <= now)) return false;
  return fits(filter.event_no, event.event_no) && fits(filter.aggregate_type, event.aggregate_type) &&
         fits(filter.aggregate_id, event.aggregate_id) && fits(filter.event_type, event.event_type) &&
         fits(filter.topic, event.topic) && fits(filter.publish_channel, event.publish_channel) &&
         fits(filter.trace_id, event.trace_id) && (!filter.created_from || event.create_time >= *filter.created_from) &&
         (!filter.created_until || event.create_time < *filter.created_until) &&
         (!filter.min_retry_count || event.retry_count >= *filter.min_retry_count);
}

[[nodiscard]] bool is_old(const Event& event, Timestamp before) {
  return is_final(event.publish_status) && event.update_time < before;
}

/// The first `limit` finished rows last changed before `before`, by id.
[[nodiscard]] std::vector<std::int64_t> old_ids(const std::map<std::int64_t, Event>& rows, Timestamp before,
                                                std::size_t limit) {
  std::vector<std::int64_t> ids;
  for (auto row = rows.begin(); row != rows.end() && ids.size() < limit; ++row)
    if (is_old(row->second, before)) ids.push_back(row->first);
  return ids;
}

[[nodiscard]] Event make_event(const NewEvent& from, std::int64_t id, Timestamp now) {
  Event event;
  static_cast<EventContent&>(event) = from;
  event.id = id;
  event.max_retry_count = from.max_retry_count;
  event.next_retry_time = from.next_retry_time;
  event.create_time = from.create_time.value_or(now);
  event.update_time = now;
  return event;
}

/// The first time after now, if any.
[[nodiscard]] std::optional<Timestamp> first_after(const IdsByTime& times, Timestamp now) {
  const auto found = times.upper_bound({now, std::numeric_limits<std::int64_t>::max()});
  if (found == times.end()) return std::nullopt;
  return found->first;
}

[[nodiscard]] std::optional<Timestamp> earliest(std::optional<Timestamp> a, std::optional<Timestamp> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

class MemoryRepository final : public IEventRepository {
 public:
  explicit MemoryRepository(std::shared_ptr<MemoryDatabase> database) : db_(std::move(database)) {}

  std::vector<AppendResult> append(std::span<const NewEvent> events) override;
  ClaimResult claim(const ClaimRequest& request) override;
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override;
  ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request) override;
  std::vector<SettleStatus> extend(std::span<const Token> tokens, Duration lease) override;
  std::vector<ExpiredLease> expired(std::size_t limit) override;
  Timestamp now() override { return db_->options.clock->now(); }
  bool wait_for_work(Duration timeout) override;
  void wake() noexcept override;

  std::optional<Event> find(std::string_view event_no) override;
  std::vector<Event> query(const EventFilter& filter, const Page& page) override;
  Stats stats(const StatsRequest& request) override;
  std::vector<DailyCount> daily_stats(const DailyStatsRequest& request) override;
  Backlog backlog() override;
  std::vector<ChannelBacklog> backlog_by_channel() override;
  std::vector<Finding> diagnose() override;
  std::optional<std::string> note(std::string_view name) override;
  void set_note(std::string_view name, std::string_view value) override;

  std::size_t requeue(const EventFilter& filter, std::size_t limit) override;
  std::size_t cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) override;
  std::size_t archive(Timestamp before, std::size_t limit) override;
  std::size_t purge(Timestamp before, std::size_t limit) override;
  RollupResult rollup(std::size_t limit) override;

 private:
  void insert(std::vector<Event> rows);
  bool settle_one(const Settlement& settlement, Timestamp now);
  std::size_t run_on(const EventFilter& filter, const CommandInput& input, std::size_t limit);
  std::shared_ptr<MemoryDatabase> db_;
  std::uint64_t turn_{0};  ///< claims made
  std::uint64_t seen_{0};  ///< the database's `changes` as of the last claim
  bool woken_{false};      ///< guarded by the database's mutex
};

std::vector<AppendResult> MemoryRepository::append(std::span<const NewEvent> events) {
  waybill::require_valid(events, db_->options.limits);
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  std::vector<AppendResult> results;
  std::vector<Event> rows;
  std::map<std::string_view, std::size_t> in_batch;  // number -> place in rows
  for (const NewEvent& event : events) {
    const auto earlier = in_batch.find(event.event_no);
    const Event* stored = earlier != in_batch.end() ? &rows[earlier->second] : db_->find(event.event_no);
    if (stored != nullptr) {
      std::string difference = content_difference(*stored, event);
      const AppendStatus status = difference.empty() ? AppendStatus::duplicate : AppendStatus::conflict;
      results.push_back({status, stored->id, std::move(difference)});
      continue;
    }
    const std::int64_t id = db_->last_id + static_cast<std::int64_t>(rows.size()) + 1;
    in_batch.emplace(event.event_no, rows.size());
    rows.push_back(make_event(event, id, at));
    results.push_back({AppendStatus::inserted, id, {}});
  }
  insert(std::move(rows));
  return results;
}

/// Inserts all, or throws `full` and inserts none.
void MemoryRepository::insert(std::vector<Event> rows) {
  if (rows.empty()) return;
  MemoryTable& table = db_->table;
  const std::size_t max = db_->options.max_events;
  const std::size_t total = table.unsettled() + rows.size();
  const std::size_t excess = max == 0 || total <= max ? 0 : total - max;
  const std::size_t droppable = db_->options.drop_oldest ? table.waiting().size() + rows.size() : 0;
  if (excess > droppable)
    throw StorageError(ErrorCode::full, "the buffer is full: it holds " + std::to_string(table.unsettled()) +
                                            " unsettled events and may hold " + std::to_string(max) +
                                            " (max_events); deliver, cancel or raise the limit");
  db_->last_id = rows.back().id;
  for (Event& row : rows) {
    db_->ids.emplace(row.event_no, row.id);
    table.insert(std::move(row));
  }
  for (std::size_t i = 0; i < excess; ++i) {
    const std::int64_t oldest = *table.waiting().begin();
    db_->ids.erase(table.at(oldest).event_no);
    table.erase(oldest);
    ++db_->dropped;
  }
  db_->announce();
}

ClaimResult MemoryRepository::claim(const ClaimRequest& request) {
  backends::require_sensible(request);
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  MemoryTable& table = db_->table;
  const ClaimShares shares = claim_shares(request.limit, request.retry_percent, turn_++);
  Selection selection(table, request, at);
  selection.take_due(table.retries(), shares.retries);
  selection.take_due(table.scheduled(), shares.scheduled);
  selection.take_new();
  selection.take_due(table.retries(), request.limit);
  selection.take_due(table.scheduled(), request.limit);

  ClaimResult result;
  CommandInput input;
  input.command = Command::claim;
  input.now = at;
  input.owner = request.owner;
  input.lease = request.lease;
  for (const std::int64_t id : selection.taken())
    if (table.run(id, input)) result.events.push_back(table.at(id));
  if (!result.events.empty()) db_->announce();
  seen_ = db_->changes;
  result.more = selection.full();
  if (!result.more) result.next_due = earliest(first_after(table.retries(), at), first_after(table.scheduled(), at));
  return result;
}

std::vector<SettleStatus> MemoryRepository::settle(std::span<const Settlement> settlements) {
  backends::require_sensible(settlements);
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  std::vector<SettleStatus> statuses;
  bool any = false;
  for (const Settlement& settlement : settlements) {
    const bool applied = settle_one(settlement, at);
    any = any || applied;
    statuses.push_back(applied ? SettleStatus::applied : SettleStatus::fenced);
  }
  if (any) db_->announce();
  return statuses;
}

bool MemoryRepository::settle_one(const Settlement& settlement, Timestamp now) {
  CommandInput input;
  input.command = settlement.command;
  input.now = now;
  input.owner = settlement.token.owner;
  input.version = settlement.token.version;
  input.next_retry_time = settlement.next_retry_time;
  input.reason = settlement.reason;
  const std::int64_t id = settlement.token.id;
  if (!db_->table.run(id, input)) return false;
  const Event& event = db_->table.at(id);
  if (settlement.cancel_if_dead && is_dead(event)) {
    CommandInput cancel;
    cancel.command = Command::cancel;
    cancel.now = now;
    cancel.reason = event.fail_reason.value_or("");
    return db_->table.run(id, cancel);
  }
  return true;
}

/// The request is looked at first: a wrong one settles nothing.
ExchangeResult MemoryRepository::exchange(std::span<const Settlement> settlements, const ClaimRequest& request) {
  backends::require_sensible(request);
  return IEventRepository::exchange(settlements, request);
}

std::vector<SettleStatus> MemoryRepository::extend(std::span<const Token> tokens, Duration lease) {
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  std::vector<SettleStatus> statuses;
  for (const Token& token : tokens)
    statuses.push_back(db_->table.extend(token, at, lease) ? SettleStatus::applied : SettleStatus::fenced);
  return statuses;
}

std::vector<ExpiredLease> MemoryRepository::expired(std::size_t limit) {
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  std::vector<ExpiredLease> leases;
  for (const auto& [until, id] : db_->table.leases()) {
    if (until > at || leases.size() >= limit) break;
    const Event& event = db_->table.at(id);
    leases.push_back({token_of(event), event.event_type, event.retry_count, event.max_retry_count});
  }
  return leases;
}

bool MemoryRepository::wait_for_work(Duration timeout) {
  std::unique_lock lock(db_->mutex);
  const bool look =
      db_->changed.wait_for(lock, std::min(timeout, kLongestWait), [this] { return woken_ || db_->changes != seen_; });
  woken_ = false;
  return look;
}

void MemoryRepository::wake() noexcept {
  const std::lock_guard lock(db_->mutex);
  woken_ = true;
  db_->changed.notify_all();
}

std::optional<Event> MemoryRepository::find(std::string_view event_no) {
  const std::lock_guard lock(db_->mutex);
  const Event* event = db_->find(event_no);
  if (event == nullptr) return std::nullopt;
  return *event;
}

std::vector<Event> MemoryRepository::query(const EventFilter& filter, const Page& page) {
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  const auto& rows = db_->table.rows();
  std::vector<Event> events;
  const auto collect = [&](auto row, auto end) {
    for (; row != end && events.size() < page.limit; ++row)
      if (matches(filter, row->second, at)) events.push_back(row->second);
  };
  if (page.newest_first)
    collect(page.after_id ? std::make_reverse_iterator(rows.lower_bound(*page.after_id)) : rows.rbegin(), rows.rend());
  else
    collect(page.after_id ? rows.upper_bound(*page.after_id) : rows.begin(), rows.end());
  return events;
}

Stats MemoryRepository::stats(const StatsRequest& request) {
  EventFilter filter;
  filter.event_type = request.event_type;
  filter.topic = request.topic;
  filter.created_from = request.created_from;
  filter.created_until = request.created_until;
  const std::lock_guard lock(db_->mutex);
  const Timestamp at = now();
  Stats stats;
  for (const auto& [id, event] : db_->table.rows()) {
    if (!matches(filter, event, at)) continue;
    ++stats.by_status[static_cast<std::size_t>(event.publish_status)];
    if (is_dead(event)) ++stats.dead;
    if (event.publish_status == Status::pending && !stats.oldest_pending) stats.oldest_pending = event.create_time;
  }
  stats.archived = db_->archive.size();
  stats.purged = db_->purged;
  stats.dropped = db_->dropped;
  return stats;
}

std::vector<DailyCount> MemoryRepository::daily_stats(const DailyStatsRequest& request) {
  const std::lock_guard lock(db_->mutex);
  return db_->stats.ask(request);
}

Backlog MemoryRepository::backlog() {
  const std::lock_guard lock(db_->mutex);
  Backlog backlog;
  for (const auto& [id, event] : db_->table.rows()) {
    if (is_final(event.publish_status) || is_dead(event)) continue;
    if (event.publish_status == Status::pending) ++backlog.pending;
    if (event.publish_status == Status::in_progress) ++backlog.in_progress;
    if (event.publish_status == Status::failed) ++backlog.retryable;
    if (!backlog.oldest) backlog.oldest = event.create_time;
  }
  return backlog;
}

std::vector<ChannelBacklog> MemoryRepository::backlog_by_channel() {
  const std::lock_guard lock(db_->mutex);
  std::map<std::pair<std::string, std::optional<std::string>>, std::uint64_t> counts;
  for (const auto& [id, event] : db_->table.rows())
    if (!is_final(event.publish_status)) ++counts[{event.publish_channel, event.topic}];
  std::vector<ChannelBacklog> lines;
  for (const auto& [destination, count] : counts) lines.push_back({destination.first, destination.second, count});
  return lines;
}

std::vector<Finding> MemoryRepository::diagnose() {
  const std::lock_guard lock(db_->mutex);
  return {{Finding::Level::ok, "store",
           "in memory: " + std::to_string(db_->table.rows().size()) + " events, " +
               std::to_string(db_->archive.size()) + " archived; nothing outlives the process",
           ""}};
}

std::optional<std::string> MemoryRepository::note(std::string_view name) {
  const std::lock_guard lock(db_->mutex);
  const auto found = db_->notes.find(name);
  if (found == db_->notes.end()) return std::nullopt;
  return found->second;
}

void MemoryRepository::set_note(std::string_view name, std::string_view value) {
  const std::lock_guard lock(db_->mutex);
  db_->notes.insert_or_assign(std::string(name), std::string(value));
}

std::size_t MemoryRepository::requeue(const EventFilter& filter, std::size_t limit) {
  CommandInput input;
  input.command = Command::requeue;
  return run_on(filter, input, limit);
}

std::size_t MemoryRepository::cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) {
  CommandInput input;
  input.command = Command::cancel;
  input.reason = std::string(reason);
  return run_on(filter, input, limit);
}

/// Runs a command of the operator on the first `limit` matching events it is allowed on.
std::size_t MemoryRepository::run_on(const EventFilter& filter, const CommandInput& input, std::size_t limit) {
  const std::lock_guard lock(db_->mutex);
  CommandInput command = input;
  command.now = now();
  const MemoryTable::Ids waiting = db_->table.waiting();  // a copy: commands change it
  std::size_t count = 0;
  for (const std::int64_t id : waiting) {
    if (count >= limit) break;
    if (matches(filter, db_->table.at(id), command.now) && db_->table.run(id, command)) ++count;
  }
  if (count > 0) db_->announce();
  return count;
}

std::size_t MemoryRepository::archive(Timestamp before, std::size_t limit) {
  const std::lock_guard lock(db_->mutex);
  const auto ids = old_ids(db_->table.rows(), before, limit);
  for (const std::int64_t id : ids) {
    Event event = db_->table.at(id);
    event.archived = true;
    db_->table.erase(id);
    db_->archive.emplace(id, std::move(event));
  }
  return ids.size();
}

std::size_t MemoryRepository::purge(Timestamp before, std::size_t limit) {
  const std::lock_guard lock(db_->mutex);
  // Archived ones first, and of those the ones that rest longest.
  IdsByTime archived;
  for (const auto& [id, event] : db_->archive)
    if (is_old(event, before)) archived.emplace(event.update_time, id);
  std::size_t count = 0;
  for (auto next = archived.begin(); next != archived.end() && count < limit; ++next, ++count) {
    db_->stats.add_purged(db_->archive.at(next->second));
    db_->ids.erase(db_->archive.at(next->second).event_no);
    db_->archive.erase(next->second);
  }
  for (const std::int64_t id : old_ids(db_->table.rows(), before, limit - count)) {
    db_->stats.add_purged(db_->table.at(id));
    db_->ids.erase(db_->table.at(id).event_no);
    db_->table.erase(id);
    ++count;
  }
  db_->purged += count;
  return count;
}

RollupResult MemoryRepository::rollup(std::size_t limit) {
  if (limit == 0) return {};
  const std::lock_guard lock(db_->mutex);
  return db_->stats.rollup({&db_->table.rows(), &db_->archive}, limit);
}

}  // namespace

std::shared_ptr<MemoryDatabase> make_memory_database(MemoryOptions options) {
  return std::make_shared<MemoryDatabase>(std::move(options));
}

std::unique_ptr<IEventRepository> make_memory_repository(std::shared_ptr<MemoryDatabase> database) {
  return std::make_unique<MemoryRepository>(std::move(database));
}

std::unique_ptr<IEventRepository> make_memory_repository(MemoryOptions options) {
  return make_memory_repository(make_memory_database(std::move(options)));
}

bool consume_once(MemoryDatabase& database, std::string_view consumer, std::string_view event_no) {
  const std::lock_guard lock(database.mutex);
  return database.inbox.emplace(consumer, event_no).second;
}

}  // namespace waybill
