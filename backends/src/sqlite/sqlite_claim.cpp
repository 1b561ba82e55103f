#include "sqlite/sqlite_claim.hpp"

#include <algorithm>
#include <limits>

#include "common/event_row.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;

constexpr std::size_t kQuantum = backends::NewEventCursor::kQuantum;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

// What a constrained scan looks at: columns of the row's front, in this order.
constexpr std::string_view kLean = "id, next_retry_time, aggregate_type, aggregate_id, publish_channel, topic";
constexpr std::string_view kWhole = "{columns}";

std::string aggregate_key(const Statement& lean_row) {
  std::string key(lean_row.text(2));
  key += '\0';
  key += lean_row.text(3);
  return key;
}

}  // namespace

void ClaimScanner::start_over() noexcept {
  retries_ = scheduled_ = Timed{};
  cursor_.start_over();
}

void ClaimScanner::begin(const ClaimRequest& request, Timestamp now) {
  request_ = &request;
  now_ = now;
  result_ = ClaimResult{};
  aggregates_.clear();
  for (Timed* timed : {&retries_, &scheduled_}) timed->more = timed->done = false;
  constrained_ = request.ordering != Ordering::none || !accepts_all(request.routes);
  if (terms_.changed(request)) start_over();
}

ClaimResult ClaimScanner::claim(const ClaimRequest& request, Timestamp now) {
  begin(request, now);
  const ClaimShares shares = claim_shares(request.limit, request.retry_percent, turn_++);
  const auto left = [&] { return request.limit - result_.events.size(); };
  take_timed(Source::retries, std::min(shares.retries, left()));
  take_timed(Source::scheduled, std::min(shares.scheduled, left()));
  take_new(left());
  take_timed(Source::retries, left());
  take_timed(Source::scheduled, left());
  if (retries_.more || scheduled_.more) result_.more = true;
  if (left() > 0) result_.next_due = next_due();
  std::sort(result_.events.begin(), result_.events.end(), [](const Event& a, const Event& b) { return a.id < b.id; });
  return std::move(result_);
}

void ClaimScanner::take(std::vector<Event> events) {
  if (events.empty()) return;
  for (Event& event : events) {
    // Cannot fail: the scans select claimable rows only.
    (void)apply(event, CommandInput{Command::claim, now_, request_->owner, 0, request_->lease, {}, {}});
    event.update_time = now_;
  }
  const std::string ids = json_list(events, [](const Event& event) { return event.id; });
  // One statement for all: opening its cursors costs SQLite more than a row.
  Statement& rows = statements_.get(texts::claim_rows);
  rows.bind(1, request_->owner).bind(2, now_ + request_->lease).bind(3, now_).bind(4, ids);
  if (rows.run() != static_cast<std::int64_t>(events.size()))
    throw StorageError(ErrorCode::corrupt, "claim: an index and its table disagree; run `waybill doctor`");
  std::move(events.begin(), events.end(), std::back_inserter(result_.events));
}

void ClaimScanner::take_ids(const std::vector<std::int64_t>& ids) {
  std::vector<Event> events;
  for (const std::int64_t id : ids) {
    const Query row(statements_.get(texts::find_by_id));
    row->bind(1, id);
    if (row->step()) events.push_back(backends::read_event(*row));
  }
  take(std::move(events));
}

// Rows are read to the end of the batch before the first is updated: an index must not change under its own scan.
void ClaimScanner::take_timed_fast(Statement& scan, std::size_t most) {
  std::vector<Event> found;
  {
    const Query query(scan);
    while (found.size() < most && query->step()) found.push_back(backends::read_event(*query));
  }
  take(std::move(found));
}

void ClaimScanner::take_timed(Source source, std::size_t most) {
  const bool retries = source == Source::retries;
  Timed& timed = retries ? retries_ : scheduled_;
  if (most == 0 || timed.done) return;
  const Place from = timed.place;
  const std::string_view what = constrained_ ? kLean : kWhole;
  Statement& scan =
      statements_.get(retries ? texts::claim_retries : texts::claim_scheduled, what.data(), {{"what", what}});
  scan.bind(1, now_).bind(2, from.time).bind(3, from.id);
  if (!constrained_) return take_timed_fast(scan, most);

  std::vector<std::int64_t> ids;
  {
    const Query query(scan);
    for (std::size_t passed = 0; ids.size() < most && passed < kQuantum;) {
      if (!query->step()) {
        timed = Timed{{}, false, from.id != 0};
        break;
      }
      if (may_take(*query))
        ids.push_back(query->integer(0));
      else if (++passed == kQuantum)
        timed = Timed{{query->integer(1), query->integer(0)}, true, false};
    }
  }
  take_ids(ids);
}

bool ClaimScanner::may_take(const Statement& row) {
  const bool open = accepts(request_->routes, row.text(4), row.optional_text(5));
  if (request_->ordering == Ordering::none) return open;
  Aggregate& aggregate = aggregates_[aggregate_key(row)];
  if (!open || aggregate.closed || blocked(row, aggregate)) return false;
  aggregate.last_taken = row.integer(0);
  return true;
}

// What this claim took of an aggregate is always its front, so only what stands between that and the row can block.
bool ClaimScanner::blocked(const Statement& row, Aggregate& aggregate) {
  const bool skip = request_->dead_head == DeadHead::skip;
  const Query earlier(statements_.get(skip ? texts::earlier_undead : texts::earlier_unsettled));
  earlier->bind(1, row.text(2)).bind(2, row.text(3)).bind(3, aggregate.last_taken).bind(4, row.integer(0));
  return earlier->step();
}

void ClaimScanner::take_new(std::size_t most) {
  if (most == 0) return;
  if (!constrained_) {
    Statement& scan = statements_.get(texts::claim_new, kWhole.data(), {{"what", kWhole}});
    take_timed_fast(scan.bind(1, std::int64_t{0}).bind(2, kNoEnd), most);
    return;
  }
  if (cursor_.take(*this, now_, most)) result_.more = true;
}

ClaimScanner::Walk ClaimScanner::walk(std::int64_t after, std::int64_t until, std::size_t most) {
  // In id order a row that is not taken blocks all behind it: no need to ask again. Only within this walk: a retry in
  // front of it may still be taken.
  Walk walk;
  walk.last_id = after;
  std::vector<std::int64_t> ids;
  {
    const Query query(statements_.get(texts::claim_new, kLean.data(), {{"what", kLean}}));
    query->bind(1, after).bind(2, until);
    while (ids.size() < most && walk.walked < kQuantum) {
      walk.at_end = !query->step();
      if (walk.at_end) break;
      walk.last_id = query->integer(0);
      if (may_take(*query)) {
        ids.push_back(walk.last_id);
        continue;
      }
      ++walk.walked;
      if (request_->ordering == Ordering::aggregate) aggregates_[aggregate_key(*query)].closed = true;
    }
  }
  for (auto& [key, aggregate] : aggregates_) aggregate.closed = false;
  take_ids(ids);
  walk.taken = ids.size();
  return walk;
}

std::size_t ClaimScanner::follow(std::int64_t event_id, std::int64_t until, std::size_t most) {
  std::vector<std::int64_t> ids;
  {
    const Query run(statements_.get(texts::aggregate_run, kLean.data(), {{"what", kLean}}));
    run->bind(1, event_id).bind(2, until).bind(3, now_);
    while (ids.size() < most && run->step() && may_take(*run)) ids.push_back(run->integer(0));
  }
  take_ids(ids);
  return ids.size();
}

std::optional<Timestamp> ClaimScanner::next_due() {
  const Query query(statements_.get(texts::next_due));
  query->bind(1, now_);
  return query->step() ? query->optional_time(0) : std::nullopt;
}

}  // namespace waybill::sqlite
