#include "mysql/mysql_writer.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/event_row.hpp"
#include "mysql/mysql_errors.hpp"
#include "mysql/mysql_tokens.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

constexpr std::size_t kMostRows = 128;      // of one INSERT
constexpr std::size_t kRowOverhead = 4096;  // all columns but payload and headers, at their widest in practice
constexpr int kMostRounds = 16;
constexpr std::string_view kRow =
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, COALESCE(?, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6))";

std::size_t bytes_of(const NewEvent& event) {
  return event.event_payload.size() + (event.event_headers ? event.event_headers->size() : 0) + kRowOverhead;
}

void add_row(Statement& rows, const NewEvent& event) {
  rows.add(event.event_no).add(event.aggregate_type).add(event.aggregate_id).add(event.event_type);
  rows.add(std::int64_t{event.event_version}).add(event.event_source).add(event.publish_channel).add(event.topic);
  rows.add(event.routing_key).add(event.event_payload).add(event.event_headers).add(event.trace_id).add(event.remark);
  rows.add(std::int64_t{event.max_retry_count}).add(event.next_retry_time).add(event.create_time);
}

}  // namespace

InsertFacts::InsertFacts(Statements& statements) {
  const Query row(statements.get(texts::insert_facts));
  if (!row->next()) throw StorageError(ErrorCode::unavailable, "the server does not say its max_allowed_packet");
  max_packet = static_cast<std::size_t>(row->integer(0));
  auto_increment = row->integer(1);
}

BatchWriter::BatchWriter(std::span<const NewEvent> events, const InsertFacts& facts)
    : events_(events), facts_(facts), given_ids_(events.size()) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t index = 0; index < events.size(); ++index) {
    const NewEvent& event = events[index];
    if (bytes_of(event) > facts.max_packet)
      throw InvalidEvent("event_payload", event.event_no + ": event_payload has " +
                                              std::to_string(event.event_payload.size()) +
                                              " bytes, for which the server's max_allowed_packet of " +
                                              std::to_string(facts.max_packet) + " has no room; raise it there");
    (seen.try_emplace(event.event_no, index).second ? firsts_ : repeated_).push_back(index);
  }
}

std::vector<AppendResult> BatchWriter::run(Statements& statements) {
  results_.assign(events_.size(), AppendResult{});
  const std::vector<std::int64_t> earlier_ids = given_ids_;
  Rows missing = firsts_;
  for (int round = 0; !insert(statements, missing); ++round) {
    // Somebody may take a number away again (archive, purge) between our two looks.
    if (round == kMostRounds) throw StorageError(ErrorCode::busy, "append: others change the same events; try again");
    missing = compare(statements, missing, round == 0 ? texts::find_numbers : texts::find_numbers_now);
  }
  if (statements.integer(texts::archive_in_use) != 0) withdraw_archived(statements, earlier_ids);
  judge_repeated(statements);
  return results_;
}

/// Takes out again what turns out to be in the archive. Before the INSERT nobody could say: an event may move there
/// until its number can be inserted, and only then the move is seen for certain.
void BatchWriter::withdraw_archived(Statements& statements, const std::vector<std::int64_t>& earlier_ids) {
  Rows inserted;
  for (const std::size_t index : firsts_)
    if (results_[index].status == AppendStatus::inserted) inserted.push_back(index);
  const std::vector<std::int64_t> new_ids = std::exchange(given_ids_, earlier_ids);
  const Rows staying = compare(statements, inserted, texts::find_archived_numbers);
  for (const std::size_t index : staying) given_ids_[index] = new_ids[index];
  for (const std::size_t index : inserted)
    if (!std::binary_search(staying.begin(), staying.end(), index))
      delete_rows(statements, texts::delete_rows, std::span(&new_ids[index], 1));
}

/// Judges those that are there; returns the others.
BatchWriter::Rows BatchWriter::compare(Statements& statements, const Rows& rows, std::string_view find) {
  std::unordered_map<std::string, Event> stored;
  for (std::size_t begin = 0; begin < rows.size(); begin += kMostRows) {
    const auto part = std::span(rows).subspan(begin, std::min(kMostRows, rows.size() - begin));
    Statement& look = statements.get_list(find, part.size());
    look.add_list(part, [&](std::size_t index) { return std::string_view(events_[index].event_no); });
    const Query found(look);
    while (found->next()) {
      Event event = backends::read_event(*found);
      stored.insert_or_assign(event.event_no, std::move(event));
    }
  }
  Rows missing;
  for (const std::size_t index : rows) {
    const auto found = stored.find(events_[index].event_no);
    if (found == stored.end())
      missing.push_back(index);
    else
      judge(found->second, index);
  }
  return missing;
}

void BatchWriter::judge(const Event& stored, std::size_t index) {
  if (stored.id == given_ids_[index]) {
    results_[index] = {AppendStatus::inserted, stored.id, {}};
    return;
  }
  std::string difference = content_difference(stored, events_[index]);
  results_[index] = {difference.empty() ? AppendStatus::duplicate : AppendStatus::conflict, stored.id,
                     std::move(difference)};
}

/// A number that the batch gives again is compared with what its first became.
void BatchWriter::judge_repeated(Statements& statements) {
  for (const std::size_t index : repeated_) {
    const Rows one{index};
    if (compare(statements, one, texts::find_numbers).empty()) continue;
    if (compare(statements, one, texts::find_archived_numbers).empty()) continue;
    (void)compare(statements, one, texts::find_numbers_now);
  }
}

/// False: a number was there. What went in before it stays; its rows are compared with themselves later.
bool BatchWriter::insert(Statements& statements, const Rows& rows) {
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < kMostRows && begin + count < rows.size(); ++count) {
      bytes += bytes_of(events_[rows[begin + count]]);
      if (count > 0 && bytes > facts_.max_packet) break;
    }
    if (!insert_rows(statements, std::span(rows).subspan(begin, count))) return false;
    begin += count;
  }
  return true;
}

bool BatchWriter::insert_rows(Statements& statements, std::span<const std::size_t> rows) {
  Statement& statement = statements.get_rows(texts::append, rows.size(), kRow);
  for (const std::size_t index : rows) add_row(statement, events_[index]);
  try {
    statement.run();
  } catch (const ServerError& error) {
    // The server undid this statement only; the transaction goes on.
    if (error.number() == kDuplicateEntry) return false;
    if (error.code() != ErrorCode::invalid) throw;
    if (rows.size() == 1)
      throw InvalidEvent("event_payload", events_[rows.front()].event_no + ": the server refused it: " + error.what());
    // Which row was it?
    for (std::size_t at = 0; at < rows.size(); ++at)
      if (!insert_rows(statements, rows.subspan(at, 1))) return false;
    return true;
  }
  const auto first = static_cast<std::int64_t>(statement.inserted_id());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const std::int64_t id = first + static_cast<std::int64_t>(at) * facts_.auto_increment;
    results_[rows[at]] = {AppendStatus::inserted, id, {}};
    given_ids_[rows[at]] = id;
  }
  return true;
}

}  // namespace waybill::mysql
