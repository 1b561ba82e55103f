// What an operator does.

#include <algorithm>

#include "common/requests.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_repository.hpp"
#include "sqlite/sqlite_rollup.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;

constexpr const char* kReturnSpace = "PRAGMA incremental_vacuum(2000)";  // pages; bounded, so that a purge stays short

}  // namespace

std::size_t SqliteRepository::each_matching(const EventFilter& filter, Command command, std::string_view reason,
                                            std::size_t limit) {
  const std::optional<EventFilter> allowed = backends::narrowed(filter, command);
  if (!allowed) return 0;
  const std::string kept = clip_reason(reason);
  const std::size_t changed = write(to_string(command).data(), [&] {
    std::size_t count = 0;
    const Timestamp time = now();
    std::vector<std::int64_t> ids;
    if (adopted()) adopted()->bring_in_all();
    for (const Event& event : query_within(*allowed, Page{limit, false, std::nullopt})) {
      ids.push_back(event.id);
      Statement& row = statements().get(command == Command::requeue ? texts::requeue_row : texts::cancel_row);
      row.bind(1, event.id).bind(2, time);
      if (command == Command::cancel) row.bind(3, kept);
      count += static_cast<std::size_t>(row.run());
    }
    if (adopted()) adopted()->show(ids);
    return count;
  });
  if (changed == 0) return 0;
  changed_ = true;
  session_->scanner.start_over();
  return changed;
}

std::size_t SqliteRepository::requeue(const EventFilter& filter, std::size_t limit) {
  return each_matching(filter, Command::requeue, {}, limit);
}

std::size_t SqliteRepository::cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) {
  return each_matching(filter, Command::cancel, reason, limit);
}

std::vector<std::int64_t> SqliteRepository::resting_before(std::string_view text, Timestamp before, std::size_t limit) {
  return integers(statements().get(text).bind(1, before).bind(2, static_cast<std::int64_t>(limit)));
}

std::size_t SqliteRepository::archive(Timestamp before, std::size_t limit) {
  if (limit == 0) return 0;
  return write("archive", [&] {
    if (adopted()) adopted()->table().refuse_archive();
    const Timestamp time = now();
    const std::vector<std::int64_t> ids = resting_before(texts::finished, before, limit);
    for (const std::int64_t id : ids) {
      statements().get(texts::archive_copy).bind(1, id).bind(2, time).run();
      statements().get(texts::delete_row).bind(1, id).run();
    }
    return ids.size();
  });
}

std::size_t SqliteRepository::purge(Timestamp before, std::size_t limit) {
  if (limit == 0) return 0;
  const std::size_t purged = write("purge", [&] {
    const std::size_t count = adopted() ? adopted()->purge(before, limit) : purge_within(before, limit);
    if (count != 0 && adopted()) add_to_counter(statements(), purged_counter(), count);
    sqlite3* db = statements().db();
    if (sqlite3_exec(db, kReturnSpace, nullptr, nullptr, nullptr) != SQLITE_OK) throw_last_error(db, "return space");
    return count;
  });
  // The file gets shorter when the WAL has been moved into it.
  if (purged < limit) guarded("checkpoint", [&] { session_->connection.checkpoint(options_.busy_timeout); });
  return purged;
}

std::size_t SqliteRepository::purge_within(Timestamp before, std::size_t limit) {
  const Timestamp time = now();
  const std::vector<std::int64_t> archived = resting_before(texts::old_archived, before, limit);
  purge_rows(statements(), EventTable::archive, archived, time);
  const std::vector<std::int64_t> finished = resting_before(texts::finished, before, limit - archived.size());
  purge_rows(statements(), EventTable::main, finished, time);
  return archived.size() + finished.size();
}

}  // namespace waybill::sqlite
