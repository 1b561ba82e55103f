#include "contract/twins.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "contract/describe.hpp"
#include "support/property.hpp"

namespace waybill::test {
namespace {

std::string text(const std::string& value) { return value; }
std::string text(std::size_t value) { return std::to_string(value); }
std::string text(const std::optional<Timestamp>& value) { return value ? format_time(*value) : "none"; }
std::string text(const std::optional<Event>& value) { return value ? describe(*value) : "none"; }
std::string text(AppendStatus status) {
  return std::array{"inserted", "duplicate", "conflict"}[static_cast<std::size_t>(status)];
}
std::string text(SettleStatus status) { return status == SettleStatus::applied ? "applied" : "fenced"; }
std::string text(const Event& event) { return describe(event); }

std::string text(const DailyCount& line) {
  return format_day(line.day) + ' ' + line.event_type + ' ' + std::string(to_string(line.status)) + ' ' +
         std::to_string(line.count);
}

template <class Item>
std::string text(const std::vector<Item>& items) {
  std::string lines;
  for (const Item& item : items) lines += "\n    " + text(item);
  return lines.empty() ? "nothing" : lines;
}

std::string text(const Stats& stats) {
  std::ostringstream out;
  for (const Status status : kAllStatuses) out << to_string(status) << ' ' << stats.of(status) << ", ";
  out << "dead " << stats.dead << ", oldest " << text(stats.oldest_pending) << ", archived " << stats.archived
      << ", purged " << stats.purged << ", dropped " << stats.dropped;
  return out.str();
}

std::string text(const Backlog& backlog) {
  std::ostringstream out;
  out << "pending " << backlog.pending << ", in progress " << backlog.in_progress << ", retryable " << backlog.retryable
      << ", oldest " << text(backlog.oldest);
  return out.str();
}

bool equal(const Stats& a, const Stats& b) { return text(a) == text(b); }
bool equal(const Backlog& a, const Backlog& b) { return text(a) == text(b); }
template <class T>
bool equal(const T& a, const T& b) {
  return a == b;
}

template <class T>
void require_same(const std::string& what, const T& reference, const T& subject) {
  if (equal(reference, subject)) return;
  RC_FAIL(what + " differs\n  memory: " + text(reference) + "\n  store:  " + text(subject));
}

void require(bool condition, const std::string& what) {
  if (!condition) RC_FAIL(what);
}

/// MySQL's JSON type writes a text its own way; equal JSON is the same here.
Event comparable(Event event) {
  event.id = 0;
  return with_normal_json(std::move(event));
}

/// Without the ids, once it is seen that they rise.
std::vector<Event> without_ids(std::vector<Event> events, bool newest_first = false) {
  const auto in_order = [&](const Event& a, const Event& b) { return newest_first ? a.id > b.id : a.id < b.id; };
  require(std::is_sorted(events.begin(), events.end(), in_order), "events are not in id order:" + text(events));
  for (Event& event : events) event = comparable(std::move(event));
  return events;
}

Page all_rows() {
  Page page;
  page.limit = 10000;
  return page;
}

std::vector<Settlement> settlements(const std::vector<Twins::Settling>& settlings, Token HeldToken::*side) {
  std::vector<Settlement> result;
  for (const Twins::Settling& settling : settlings) {
    result.push_back(settling.rest);
    result.back().token = settling.token.*side;
  }
  return result;
}

}  // namespace

void Twins::Side::open() {
  for (auto& connection : connections) connection.reset();
  for (auto& connection : connections) connection = database->open();
}

void Twins::Side::learn(const std::string& event_no, std::int64_t id) {
  ids[event_no] = id;
  numbers[id] = event_no;
}

Twins::Twins(const StoreKind& subject, const StoreSettings& settings)
    : name_(subject.name), has_archive_(subject.has_archive) {
  reference_.database = store_kinds().front().make(settings);
  subject_.database = subject.make(settings);
  reference_.open();
  subject_.open();
}

template <class Act>
auto Twins::on_both(Act act) -> decltype(act(std::declval<Side&>())) {
  const auto reference = act(reference_);
  const auto subject = act(subject_);
  require_same("the answer", reference, subject);
  return reference;
}

void Twins::advance(Duration by) {
  for (Side* side : {&reference_, &subject_}) side->database->clock().advance(by);
}

void Twins::reopen() {
  reference_.open();
  subject_.open();
}

void Twins::append(std::size_t connection, const std::vector<NewEvent>& events) {
  const auto act = [&](Side& side) {
    std::vector<std::string> answers;
    try {
      const auto results = side.connections[connection]->append(events);
      require(results.size() == events.size(), "append did not answer for each event");
      std::int64_t last = 0;
      for (std::size_t i = 0; i < results.size(); ++i) {
        const AppendResult& result = results[i];
        if (result.status == AppendStatus::inserted) {
          require(result.id > last, "append gave an id that does not rise");
          last = result.id;
          side.learn(events[i].event_no, result.id);
        } else {
          require(side.ids.at(events[i].event_no) == result.id, "append gave a stranger's id");
        }
        answers.push_back(text(result.status) + ' ' + result.difference);
      }
    } catch (const StorageError& error) {
      answers.push_back(to_string(error.code()));
    }
    return answers;
  };
  for (const std::string& answer : on_both(act)) accepted_ += answer == "inserted ";
  compare();
}

void Twins::claim(std::size_t connection, const ClaimRequest& request) {
  ClaimResult reference = reference_.connections[connection]->claim(request);
  take(std::move(reference), subject_.connections[connection]->claim(request));
  compare();
}

void Twins::take(ClaimResult reference, ClaimResult subject) {
  require_same("what was claimed", without_ids(reference.events), without_ids(subject.events));
  require_same("next_due", reference.next_due, subject.next_due);
  for (std::size_t i = 0; i < reference.events.size(); ++i)
    held_.push_back({token_of(reference.events[i]), token_of(subject.events[i])});
}

void Twins::settle(std::size_t connection, const std::vector<Settling>& settlings) {
  settle_sides(connection, settlements(settlings, &HeldToken::reference), settlements(settlings, &HeldToken::subject));
}

void Twins::settle_sides(std::size_t connection, const std::vector<Settlement>& reference,
                         const std::vector<Settlement>& subject) {
  const auto expected = reference_.connections[connection]->settle(reference);
  require_same("settle", expected, subject_.connections[connection]->settle(subject));
  compare();
}

void Twins::exchange(std::size_t connection, const std::vector<Settling>& settlings, const ClaimRequest& request) {
  ExchangeResult reference =
      reference_.connections[connection]->exchange(settlements(settlings, &HeldToken::reference), request);
  ExchangeResult subject =
      subject_.connections[connection]->exchange(settlements(settlings, &HeldToken::subject), request);
  require_same("settled by exchange", reference.settled, subject.settled);
  take(std::move(reference.claimed), std::move(subject.claimed));
  compare();
}

void Twins::extend(std::size_t connection, const std::vector<HeldToken>& tokens, Duration lease) {
  std::vector<Token> reference;
  std::vector<Token> subject;
  for (const HeldToken& token : tokens) {
    reference.push_back(token.reference);
    subject.push_back(token.subject);
  }
  const auto expected = reference_.connections[connection]->extend(reference, lease);
  require_same("extend", expected, subject_.connections[connection]->extend(subject, lease));
  compare();
}

void Twins::recover(std::size_t connection, std::size_t limit, std::optional<Timestamp> next, bool cancel_if_dead) {
  std::vector<std::vector<Settlement>> settlements;
  const auto act = [&](Side& side) {
    std::vector<std::string> lines;
    settlements.emplace_back();
    for (const ExpiredLease& lease : side.connections[connection]->expired(limit)) {
      lines.push_back(side.numbers.at(lease.token.id) + " v" + std::to_string(lease.token.version) + ' ' +
                      lease.token.owner + ' ' + lease.event_type + ' ' + std::to_string(lease.retry_count) + '/' +
                      std::to_string(lease.max_retry_count));
      settlements.back().push_back({lease.token, Command::expire, next, "lease expired", cancel_if_dead});
    }
    return lines;
  };
  on_both(act);
  settle_sides(connection, settlements[0], settlements[1]);
}

void Twins::requeue(const EventFilter& filter, std::size_t limit) {
  on_both([&](Side& side) { return side.store().requeue(filter, limit); });
  compare();
}

void Twins::cancel(const EventFilter& filter, std::size_t limit) {
  on_both([&](Side& side) { return side.store().cancel(filter, "by hand", limit); });
  compare();
}

void Twins::archive(Timestamp before, std::size_t limit) {
  if (!has_archive_) return;
  on_both([&](Side& side) { return side.store().archive(before, limit); });
  compare();
}

void Twins::purge(Timestamp before, std::size_t limit) {
  on_both([&](Side& side) { return side.store().purge(before, limit); });
  compare();
  compare_finds();
}

void Twins::rollup(std::size_t connection, std::size_t limit) {
  if (!has_archive_) return;  // nor daily counts
  on_both([&](Side& side) {
    std::size_t days = 0;
    for (bool more = true; more;) {
      const RollupResult result = side.connections[connection]->rollup(limit);
      require(result.days <= limit, "rollup did more days than it should");
      days += result.days;
      more = result.more;
    }
    require(side.store().rollup(limit) == RollupResult{}, "rollup again changed something");
    return days;
  });
  check_days(on_both([](Side& side) { return side.store().daily_stats({}); }));
}

/// Against the rows for what is unfinished, against the books for all.
void Twins::check_days(const std::vector<DailyCount>& days) {
  std::map<std::tuple<Day, std::string, Status>, std::uint64_t> rows;
  for (const Event& event : subject_.store().query({}, all_rows()))
    ++rows[{day_of(event.create_time), event.event_type, event.publish_status}];
  const Stats stats = subject_.store().stats({});
  std::uint64_t total = 0;
  for (const DailyCount& line : days) {
    const auto found = rows.find({line.day, line.event_type, line.status});
    const std::uint64_t here = found == rows.end() ? 0 : found->second;
    require(is_final(line.status) ? line.count >= here : line.count == here,
            text(line) + ", but there are " + std::to_string(here));
    total += line.count;
  }
  std::uint64_t known = stats.archived + stats.purged;
  for (const Status status : kAllStatuses) known += stats.of(status);
  require(total == known, "the days add up to " + std::to_string(total) + ", but: " + text(stats));
}

void Twins::query(const EventFilter& filter, Page page, const std::string& after) {
  on_both([&](Side& side) {
    const auto known = side.ids.find(after);
    if (known != side.ids.end()) page.after_id = known->second;
    return without_ids(side.store().query(filter, page), page.newest_first);
  });
}

void Twins::stats(const StatsRequest& request) {
  on_both([&](Side& side) { return side.store().stats(request); });
}

void Twins::compare() {
  const auto rows = on_both([](Side& side) { return without_ids(side.store().query({}, all_rows())); });
  const Stats stats = on_both([](Side& side) { return side.store().stats({}); });
  on_both([](Side& side) { return side.store().backlog(); });
  on_both([](Side& side) {
    std::set<std::string> lines;
    for (const ChannelBacklog& line : side.store().backlog_by_channel())
      lines.insert(line.publish_channel + ' ' + line.topic.value_or("(none)") + ' ' + std::to_string(line.unsettled));
    return std::vector<std::string>(lines.begin(), lines.end());
  });
  check_books(rows, stats);
}

/// DESIGN §10.2, and what must hold of every row.
void Twins::check_books(const std::vector<Event>& rows, const Stats& stats) {
  std::uint64_t found = stats.archived + stats.purged + stats.dropped;
  for (const Status status : kAllStatuses) found += stats.of(status);
  require(found == accepted_, "accepted " + std::to_string(accepted_) + " events, but: " + text(stats));
  for (const Event& event : rows) {
    const bool running = event.publish_status == Status::in_progress;
    require(event.locked_by.has_value() == running && event.lock_until.has_value() == running,
            "locked when not in progress, or the reverse: " + describe(event));
  }
}

void Twins::compare_finds() {
  for (const auto& [event_no, id] : reference_.ids)
    on_both([&number = event_no](Side& side) {
      std::optional<Event> event = side.store().find(number);
      if (event) event = comparable(std::move(*event));
      return event;
    });
}

}  // namespace waybill::test
