#include "mysql/mysql_writer.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <random>

#include "common/event_row.hpp"
#include "mysql/mysql_errors.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

constexpr std::size_t kMostRows = 128;  // of one INSERT
constexpr std::size_t kRowOverhead = 1024;
constexpr int kMostNewIds = 8;
constexpr std::string_view kRow =
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, COALESCE(?, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6))";

std::size_t bytes_of(const NewEvent& event) {
  return event.event_payload.size() + (event.event_headers ? event.event_headers->size() : 0) + kRowOverhead * 2;
}

void add_row(Statement& rows, const NewEvent& event, std::int64_t id) {
  rows.add(id).add(event.event_no).add(event.aggregate_type).add(event.aggregate_id).add(event.event_type);
  rows.add(std::int64_t{event.event_version}).add(event.event_source).add(event.publish_channel).add(event.topic);
  rows.add(event.routing_key).add(event.event_payload).add(event.event_headers).add(event.trace_id).add(event.remark);
  rows.add(std::int64_t{event.max_retry_count}).add(event.next_retry_time).add(event.create_time);
}

/// Appends one batch.
class Batch {
 public:
  Batch(Statements& statements, std::span<const NewEvent> events, BatchIds& ids)
      : statements_(statements), events_(events), ids_(ids), results_(events.size()) {}

  std::vector<AppendResult> run(std::size_t max_packet, bool counts_found) {
    require_fitting(max_packet);
    std::vector<std::size_t> rows = first_of_each_number();
    if (statements_.integer(texts::archive_in_use) != 0) rows = without_archived(std::move(rows));
    for (int round = 0; !rows.empty(); ++round) {
      if (round == kMostNewIds)
        throw StorageError(ErrorCode::busy, "append: every id that was tried is taken; try again");
      const bool all_new = insert(rows, max_packet / 2) == rows.size() && !counts_found;
      if (all_new) break;
      rows = compare(rows, texts::find_numbers);
      for (const std::size_t index : rows) ids_.replace(index);  // swallowed: the id belongs to another number
    }
    compare_repeated();
    return std::move(results_);
  }

 private:
  void require_fitting(std::size_t max_packet) const {
    for (const NewEvent& event : events_) {
      if (bytes_of(event) <= max_packet) continue;
      throw InvalidEvent("event_payload", event.event_no + ": event_payload has " +
                                              std::to_string(event.event_payload.size()) +
                                              " bytes; the server's max_allowed_packet of " +
                                              std::to_string(max_packet) + " has no room for it");
    }
  }

  /// Sorted by event number, so that all writers lock in the same order; a number given twice stands once.
  std::vector<std::size_t> first_of_each_number() {
    std::vector<std::size_t> rows;
    for (std::size_t index = 0; index < events_.size(); ++index) {
      results_[index] = {AppendStatus::inserted, ids_.of(index), {}};
      if (first_.try_emplace(events_[index].event_no, index).second) rows.push_back(index);
    }
    std::sort(rows.begin(), rows.end(),
              [&](std::size_t a, std::size_t b) { return events_[a].event_no < events_[b].event_no; });
    return rows;
  }

  std::vector<std::size_t> without_archived(std::vector<std::size_t> rows) {
    return compare(rows, texts::find_archived_numbers);
  }

  /// Reads the rows again and says what became of them; returns those that are not there.
  std::vector<std::size_t> compare(const std::vector<std::size_t>& rows, std::string_view find) {
    std::map<std::string, Event, std::less<>> stored;
    for (std::size_t begin = 0; begin < rows.size(); begin += kMostRows) {
      const std::size_t count = std::min(kMostRows, rows.size() - begin);
      const std::size_t places = padded(count);
      Statement& look = statements_.get_list(find, places);
      for (std::size_t at = 0; at < places; ++at)
        look.add(std::string_view(events_[rows[begin + std::min(at, count - 1)]].event_no));
      const Query found(look);
      while (found->next()) {
        Event event = backends::read_event(*found);
        stored.insert_or_assign(event.event_no, std::move(event));
      }
    }
    std::vector<std::size_t> missing;
    for (const std::size_t index : rows) {
      const auto found = stored.find(events_[index].event_no);
      if (found == stored.end())
        missing.push_back(index);
      else
        results_[index] = judge(found->second, index);
    }
    return missing;
  }

  AppendResult judge(const Event& stored, std::size_t index) const {
    if (stored.id == ids_.of(index)) return {AppendStatus::inserted, stored.id, {}};
    std::string difference = content_difference(stored, events_[index]);
    return {difference.empty() ? AppendStatus::duplicate : AppendStatus::conflict, stored.id, std::move(difference)};
  }

  void compare_repeated() {
    for (std::size_t index = 0; index < events_.size(); ++index) {
      const std::size_t first = first_.at(events_[index].event_no);
      if (first == index) {
        if (results_[index].status == AppendStatus::inserted) results_[index].id = ids_.of(index);
        continue;
      }
      std::string difference;
      if (results_[first].status == AppendStatus::inserted) {
        difference = content_difference(events_[first], events_[index]);
      } else {
        // The first found the number taken: so does this one, with its own content.
        compare({index}, texts::find_numbers);
        if (results_[index].status == AppendStatus::inserted) compare({index}, texts::find_archived_numbers);
        continue;
      }
      results_[index] = {difference.empty() ? AppendStatus::duplicate : AppendStatus::conflict, results_[first].id,
                         std::move(difference)};
    }
  }

  std::uint64_t insert(const std::vector<std::size_t>& rows, std::size_t most_bytes) {
    std::uint64_t inserted = 0;
    for (std::size_t begin = 0; begin < rows.size();) {
      std::size_t count = 0;
      for (std::size_t bytes = 0; count < kMostRows && begin + count < rows.size(); ++count) {
        bytes += bytes_of(events_[rows[begin + count]]);
        if (count > 0 && bytes > most_bytes) break;
      }
      count = std::bit_floor(count);  // few statements serve all lengths
      inserted += insert_rows(std::span(rows).subspan(begin, count));
      begin += count;
    }
    return inserted;
  }

  std::uint64_t insert_rows(std::span<const std::size_t> rows) {
    Statement& statement = statements_.get_rows(texts::append, rows.size(), kRow);
    for (const std::size_t index : rows) add_row(statement, events_[index], ids_.of(index));
    try {
      return statement.run();
    } catch (const ServerError& error) {
      if (error.code() != ErrorCode::invalid) throw;
      // The server undid this statement only. Which row was it?
      if (rows.size() == 1)
        throw InvalidEvent("event_payload", events_[rows.front()].event_no + ": the server refused it: " + error.what());
    }
    std::uint64_t inserted = 0;
    for (std::size_t at = 0; at < rows.size(); ++at) inserted += insert_rows(rows.subspan(at, 1));
    return inserted;
  }

  Statements& statements_;
  std::span<const NewEvent> events_;
  BatchIds& ids_;
  std::vector<AppendResult> results_;
  std::map<std::string_view, std::size_t> first_;
};

}  // namespace

BatchIds::BatchIds(SnowflakeIds& source, Timestamp now, std::size_t count) : source_(source), now_(now) {
  ids_.reserve(count);
  for (std::size_t index = 0; index < count; ++index) ids_.push_back(source_.next(now_));
}

std::uint32_t random_worker() {
  std::random_device device;
  return device() % (SnowflakeIds::kMaxWorker + 1);
}

std::vector<AppendResult> append_events(Statements& statements, std::span<const NewEvent> events, BatchIds& ids,
                                        std::size_t max_packet, bool counts_found) {
  return Batch(statements, events, ids).run(max_packet, counts_found);
}

}  // namespace waybill::mysql
