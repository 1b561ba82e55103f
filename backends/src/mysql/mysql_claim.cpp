#include "mysql/mysql_claim.hpp"

#include <algorithm>
#include <limits>

#include "common/event_row.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

constexpr std::string_view kLean = "id, next_retry_time, aggregate_type, aggregate_id, publish_channel, topic";
constexpr int kTimeColumn = 27;  // behind kEventColumns: the server's time
constexpr std::size_t kQuantum = backends::NewEventCursor::kQuantum;
constexpr std::size_t kSmallestPage = 50;
/// Claims from this size on take short cuts; smaller ones gain nothing by them.
constexpr std::size_t kLargeClaim = 32;
constexpr int kRestPerLook = 20;  ///< times as long as the claim that looked
constexpr std::chrono::milliseconds kShortestRest{200};
constexpr std::chrono::seconds kLongestRest{5};
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostBlockers = 100'000;  ///< about 20 MB; beyond, all are forgotten and found again

/// Candidates are dear with ordering, where each one's front is read: only as many as are wanted, and when they do not
/// do, so many that the rows to pass over take few round trips.
std::size_t page_size(std::size_t last, std::size_t most, std::size_t passed) {
  return std::min(last == 0 ? std::max(most, kSmallestPage) : 4 * last, kQuantum - passed);
}

}  // namespace

void ClaimScanner::start_over() noexcept {
  retries_ = scheduled_ = Timed{};
  cursor_.start_over();
  newest_taken_ = 0;
}

void ClaimScanner::begin(const ClaimRequest& request) {
  request_ = &request;
  result_ = ClaimResult{};
  taken_.clear();
  claimed_at_ = connection_.now();
  for (Timed* timed : {&retries_, &scheduled_}) timed->more = timed->done = false;
  constrained_ = request.ordering != Ordering::none || !accepts_all(request.routes);
  if (terms_.changed(request)) start_over();
  begun_ = std::chrono::steady_clock::now();
  const bool pressed = !constrained_ && request.limit >= kLargeClaim;
  looking_ = !pressed || newest_taken_ == 0 || begun_ >= look_again_;
}

ClaimResult ClaimScanner::claim(const ClaimRequest& request) {
  begin(request);
  const ClaimShares shares = claim_shares(request.limit, request.retry_percent, turn_++);
  if (looking_ || !timed_empty_) {
    take_timed(Source::retries, std::min(shares.retries, left()));
    take_timed(Source::scheduled, std::min(shares.scheduled, left()));
    timed_empty_ = result_.events.empty();
  }
  take_new(left());
  take_timed(Source::retries, left());
  take_timed(Source::scheduled, left());
  if (retries_.more || scheduled_.more) result_.more = true;
  if (left() > 0 && !result_.more) {
    const Query due(statements_.get(texts::next_due));
    if (due->next()) result_.next_due = due->optional_time(0);
  }
  if (looking_) rest_from_looking();
  std::sort(result_.events.begin(), result_.events.end(), [](const Event& a, const Event& b) { return a.id < b.id; });
  return std::move(result_);
}

// A look walks all entries that are settled but not purged: none, or millions while an old snapshot is open.
void ClaimScanner::rest_from_looking() {
  const auto now = std::chrono::steady_clock::now();
  look_again_ =
      now + std::clamp<std::chrono::steady_clock::duration>(kRestPerLook * (now - begun_), kShortestRest, kLongestRest);
}

ClaimScanner::Signs ClaimScanner::signs() {
  Statement& look = statements_.get(texts::claimable_signs, fresh().data(), {{"fresh", fresh()}});
  const Query row(look.add(claimed_at_).add(claimed_at_));
  Signs signs{};
  if (row->next())
    for (std::size_t column = 0; column < signs.size(); ++column)
      signs[column] = row->integer(static_cast<int>(column));
  return signs;
}

std::vector<Event> ClaimScanner::read_locked(Statement& scan) {
  std::vector<Event> events;
  const Query rows(scan);
  Timestamp now{};
  while (rows->next()) {
    events.push_back(backends::read_event(*rows));
    now = rows->time(kTimeColumn);
  }
  if (!events.empty()) claimed_at_ = now;
  return events;
}

// By the primary key: a range over the claim index would lock rows that others hold.
void ClaimScanner::take(std::vector<Event> events, Timestamp now) {
  if (events.empty()) return;
  Statement& rows = statements_.get_list(texts::claim_rows, events.size());
  rows.add(request_->owner).add(now + request_->lease).add(now).add(now);
  rows.add_list(events, [](const Event& event) { return event.id; });
  if (rows.run() != events.size())
    throw StorageError(ErrorCode::corrupt, "claim: an index and its table disagree; run CHECK TABLE");
  for (Event& event : events) {
    // Cannot fail: the scans select claimable rows only.
    (void)apply(event, CommandInput{Command::claim, now, request_->owner, 0, request_->lease, {}, {}});
    event.update_time = now;
    taken_.insert(event.id);
  }
  std::move(events.begin(), events.end(), std::back_inserter(result_.events));
}

void ClaimScanner::take_timed(Source source, std::size_t most) {
  const bool retries = source == Source::retries;
  Timed& timed = retries ? retries_ : scheduled_;
  if (most == 0 || timed.done) return;
  // The order of either claim index; with rows to pass over one that a later claim can go on in.
  const std::string_view order = constrained_ ? "next_retry_time, id" : "next_retry_time";
  const Timed from = timed;
  for (std::size_t page = 0, passed = 0; most > 0;) {
    page = page_size(page, most, passed);
    Statement& look = statements_.get(retries ? texts::look_retries : texts::look_scheduled, order.data(),
                                      {{"lean", kLean}, {"order", order}});
    look.add(timed.time).add(timed.time).add(timed.id).add(static_cast<std::int64_t>(page));
    const std::vector<Candidate> candidates = read_candidates(look);
    const Looked looked = take_candidates(candidates, most, passed);
    most -= looked.taken;
    passed += constrained_ ? looked.passed : looked.seen - looked.taken;  // the others' are met again
    if (looked.seen == candidates.size() && candidates.size() < page) {
      timed = Timed{};
      timed.done = from.id != 0 || passed == 0;
      return;
    }
    if (constrained_ && looked.seen > 0) {
      timed.time = candidates[looked.seen - 1].due.value_or(timed.time);
      timed.id = candidates[looked.seen - 1].id;
    }
    if (passed >= kQuantum) {
      timed.more = true;
      return;
    }
  }
  timed = from;  // enough was found without passing many: the next claim looks here again
}

void ClaimScanner::take_new(std::size_t most) {
  if (most == 0) return;
  if (constrained_) {
    if (cursor_.take(*this, claimed_at_, most)) result_.more = true;
    take_released();
    return;
  }
  if (!looking_) most -= take_behind(most);
  if (most == 0) return;
  looking_ = true;
  take_front(most);
}

/// Those behind the last one taken, locked as they are read.
std::size_t ClaimScanner::take_behind(std::size_t most) {
  Statement& scan = statements_.get(texts::claim_new, fresh().data(), {{"fresh", fresh()}});
  std::vector<Event> events = read_locked(scan.add(newest_taken_).add(static_cast<std::int64_t>(most)));
  const std::size_t count = events.size();
  if (count > 0) newest_taken_ = events.back().id;
  take(std::move(events), claimed_at_);
  return count;
}

void ClaimScanner::take_front(std::size_t most) {
  std::vector<Candidate> front = look_new(0, kNoEnd, most);
  if (seed_index_) {
    for (Candidate& one : look_released(most)) front.push_back(std::move(one));
    std::sort(front.begin(), front.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  }
  const bool all = front.size() < most;
  if (front.size() > most) front.resize(most);
  if (front.empty()) return;
  newest_taken_ = std::max(newest_taken_, front.back().id);
  most -= take_candidates(front, most, 0).taken;
  if (all || most == 0) return;
  // Others hold some of them.
  newest_taken_ = std::max(newest_taken_, walk(front.back().id, kNoEnd, most).last_id);
  take_released();
}

void ClaimScanner::take_released() {
  if (seed_index_ && left() > 0) take_candidates(look_released(kQuantum), left(), 0);
}

std::vector<ClaimScanner::Candidate> ClaimScanner::look_new(std::int64_t after, std::int64_t until, std::size_t most) {
  Statement& look = statements_.get(texts::look_new, kLean.data(), {{"lean", kLean}, {"fresh", fresh()}});
  return read_candidates(look.add(after).add(until).add(static_cast<std::int64_t>(most)));
}

/// With the seed's index, new events that were tried before stand behind those that were not.
std::vector<ClaimScanner::Candidate> ClaimScanner::look_released(std::size_t most) {
  Statement& look = statements_.get(texts::look_released, kLean.data(), {{"lean", kLean}});
  return read_candidates(look.add(static_cast<std::int64_t>(most)));
}

std::vector<ClaimScanner::Candidate> ClaimScanner::read_candidates(Statement& scan) {
  std::vector<Candidate> candidates;
  const Query rows(scan);
  while (rows->next())
    candidates.push_back({rows->integer(0),
                          rows->optional_time(1),
                          {std::string(rows->text(2)), std::string(rows->text(3))},
                          std::string(rows->text(4)),
                          rows->optional_text(5)});
  return candidates;
}

ClaimScanner::Walk ClaimScanner::walk(std::int64_t after, std::int64_t until, std::size_t most) {
  Walk walk;
  walk.last_id = after;
  for (std::size_t page = 0; walk.taken < most && walk.walked < kQuantum && !walk.at_end;) {
    page = page_size(page, most, walk.walked);
    const std::vector<Candidate> candidates = look_new(walk.last_id, until, page);
    const Looked looked = take_candidates(candidates, most - walk.taken, walk.walked);
    walk.taken += looked.taken;
    walk.walked += looked.passed;
    walk.at_end = looked.seen == candidates.size() && candidates.size() < page;
    if (looked.seen > 0) walk.last_id = candidates[looked.seen - 1].id;
  }
  return walk;
}

std::size_t ClaimScanner::follow(std::int64_t event_id, std::int64_t until, std::size_t most) {
  Statement& look = statements_.get(texts::aggregate_run, kLean.data(), {{"lean", kLean}});
  look.add(event_id).add(until).add(static_cast<std::int64_t>(most));
  return take_candidates(read_candidates(look), most, 0).taken;
}

ClaimScanner::Looked ClaimScanner::take_candidates(const std::vector<Candidate>& candidates, std::size_t most,
                                                   std::size_t passed) {
  Fronts fronts;
  if (request_->ordering == Ordering::aggregate) fronts = read_fronts(candidates);
  std::vector<const Candidate*> chosen;
  Looked looked;
  while (looked.seen < candidates.size() && chosen.size() < most && passed + looked.passed < kQuantum) {
    const Candidate& one = candidates[looked.seen++];
    const bool open = accepts(request_->routes, one.publish_channel, one.topic);
    if (request_->ordering == Ordering::none ? open : may_go(one, open, fronts))
      chosen.push_back(&one);
    else
      ++looked.passed;
  }
  looked.taken = lock_and_take(chosen);
  return looked;
}

// What stands before the candidates, read before any of them is locked: it can only become less until then. Nothing for
// aggregates that still wait for what they waited for before: thousands of followers may stand in them.
ClaimScanner::Fronts ClaimScanner::read_fronts(const std::vector<Candidate>& candidates) {
  const std::unordered_set<std::int64_t> standing = standing_blockers(candidates);
  Fronts fronts;
  std::map<std::string_view, std::vector<std::string_view>> by_type;
  std::int64_t last = 0;
  for (const Candidate& one : candidates) {
    last = std::max(last, one.id);
    const auto known = blockers_.find(one.aggregate);
    if (known != blockers_.end() && known->second < one.id && standing.count(known->second) != 0) continue;
    if (fronts.try_emplace(one.aggregate).second) by_type[one.aggregate.first].push_back(one.aggregate.second);
  }
  for (const auto& [type, ids] : by_type) {
    Statement& look = statements_.get_list(texts::unsettled, ids.size());
    look.add(type).add_list(ids, [](std::string_view id) { return id; });
    const Query rows(look.add(last));
    while (rows->next())
      fronts[{std::string(type), std::string(rows->text(0))}].events.emplace_back(rows->integer(1),
                                                                                  rows->integer(2) != 0);
  }
  for (auto& [key, front] : fronts) std::sort(front.events.begin(), front.events.end());
  return fronts;
}

/// Those of the candidates' known blockers that still block.
std::unordered_set<std::int64_t> ClaimScanner::standing_blockers(const std::vector<Candidate>& candidates) {
  std::unordered_set<std::int64_t> standing;
  std::vector<std::int64_t> ids;
  for (const Candidate& one : candidates)
    if (const auto known = blockers_.find(one.aggregate); known != blockers_.end()) ids.push_back(known->second);
  if (ids.empty()) return standing;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Statement& look = statements_.get_list(texts::unsettled_rows, ids.size());
  const Query rows(look.add_list(ids, [](std::int64_t id) { return id; }));
  while (rows->next())
    if (taken_.count(rows->integer(0)) == 0 && (request_->dead_head == DeadHead::block || rows->integer(1) == 0))
      standing.insert(rows->integer(0));
  return standing;
}

bool ClaimScanner::may_go(const Candidate& one, bool open, Fronts& fronts) {
  const auto found = fronts.find(one.aggregate);
  if (found == fronts.end()) return false;  // it waits as before
  Front& front = found->second;
  if (advance(front, open ? one.id : 0)) return true;
  if (front.at == front.events.size()) return false;
  if (blockers_.size() == kMostBlockers) blockers_.clear();
  blockers_[one.aggregate] = front.events[front.at].first;
  return false;
}

/// True when nothing stands before the event but what this claim takes (and dead ones that are to be passed).
bool ClaimScanner::advance(Front& front, std::int64_t id) const {
  const bool skip_dead = request_->dead_head == DeadHead::skip;
  while (front.at < front.events.size() &&
         (taken_.count(front.events[front.at].first) != 0 || (skip_dead && front.events[front.at].second)))
    ++front.at;
  if (front.at == front.events.size() || front.events[front.at].first != id) return false;
  ++front.at;
  return true;
}

std::size_t ClaimScanner::lock_and_take(const std::vector<const Candidate*>& chosen) {
  if (chosen.empty()) return 0;
  Statement& lock = statements_.get_list(texts::lock_rows, chosen.size());
  lock.add_list(chosen, [](const Candidate* one) { return one->id; });
  std::vector<Event> locked = read_locked(lock);
  if (request_->ordering == Ordering::aggregate) {
    std::unordered_set<std::int64_t> got;
    for (const Event& event : locked) got.insert(event.id);
    // Behind the first that somebody else has got, nothing of that aggregate may go.
    std::map<AggregateKey, std::int64_t> missing;
    for (const Candidate* one : chosen) {
      if (got.count(one->id) != 0) continue;
      std::int64_t& first = missing.try_emplace(one->aggregate, one->id).first->second;
      first = std::min(first, one->id);
    }
    const auto stands_behind = [&](const Event& event) {
      const auto gap = missing.find({event.aggregate_type, event.aggregate_id});
      return gap != missing.end() && event.id > gap->second;
    };
    locked.erase(std::remove_if(locked.begin(), locked.end(), stands_behind), locked.end());
  }
  const std::size_t count = locked.size();
  take(std::move(locked), claimed_at_);
  return count;
}

}  // namespace waybill::mysql
