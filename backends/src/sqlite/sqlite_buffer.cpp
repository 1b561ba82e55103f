#include "sqlite/sqlite_buffer.hpp"

#include <limits>
#include <vector>

#include "sqlite/sqlite_rollup.hpp"
#include "waybill_sql_sqlite.hpp"

namespace waybill::sqlite {
namespace {

namespace texts = sql::sqlite;

constexpr std::int64_t kBatch = 10;  // rows removed at a time: few more than needed, and little for the WAL

std::vector<std::int64_t> ids_of(Statement& statement) {
  const Query query(statement);
  std::vector<std::int64_t> ids;
  while (query->step()) ids.push_back(query->integer(0));
  return ids;
}

std::uint64_t drop_oldest(Statements& statements, std::int64_t count) {
  const std::vector<std::int64_t> ids = ids_of(statements.get(texts::drop_candidates).bind(1, count));
  for (const std::int64_t id : ids) statements.get(texts::delete_row).bind(1, id).run();
  if (!ids.empty()) add_to_counter(statements, "dropped", ids.size());
  return ids.size();
}

std::uint64_t forget_finished(Statements& statements, Timestamp now) {
  Statement& finished = statements.get(texts::finished);
  finished.bind(1, std::numeric_limits<std::int64_t>::max()).bind(2, kBatch);
  const std::vector<std::int64_t> ids = ids_of(finished);
  purge_rows(statements, EventTable::main, ids, now);
  return ids.size();
}

bool has_byte_room(Statements& statements, const Bounds& bounds, std::uint64_t incoming) {
  const auto number = [&](std::string_view pragma) { return static_cast<std::uint64_t>(statements.integer(pragma)); };
  const std::uint64_t page = number("PRAGMA page_size");
  const std::uint64_t need = incoming * 2 + kPageSlack;  // B-tree pages are not full
  if (number("PRAGMA page_count") * page + need <= bounds.max_bytes - wal_share(bounds.max_bytes)) return true;
  return number("PRAGMA freelist_count") * page >= need;
}

}  // namespace

void add_to_counter(Statements& statements, std::string_view name, std::uint64_t by) {
  statements.get(texts::add_to_counter).bind(1, name).bind(2, static_cast<std::int64_t>(by)).run();
}

std::uint64_t make_byte_room(Statements& statements, const Bounds& bounds, std::uint64_t incoming, Timestamp now) {
  if (bounds.max_bytes == 0) return 0;
  std::uint64_t dropped = 0;
  while (!has_byte_room(statements, bounds, incoming)) {
    if (forget_finished(statements, now) != 0) continue;
    const std::uint64_t count = bounds.on_full == OnFull::drop_oldest ? drop_oldest(statements, kBatch) : 0;
    dropped += count;
    if (count == 0)
      throw StorageError(ErrorCode::full, "the buffer is full: max_bytes=" + std::to_string(bounds.max_bytes) +
                                              " is used up by events not delivered yet; nothing was written");
  }
  return dropped;
}

std::uint64_t enforce_max_events(Statements& statements, const Bounds& bounds) {
  if (bounds.max_events == 0) return 0;
  const auto held = static_cast<std::uint64_t>(statements.integer(texts::count_unsettled));
  if (held <= bounds.max_events) return 0;
  const std::uint64_t over = held - bounds.max_events;
  if (bounds.on_full == OnFull::drop_oldest && drop_oldest(statements, static_cast<std::int64_t>(over)) == over)
    return over;
  throw StorageError(ErrorCode::full, "the buffer is full: it holds max_events=" + std::to_string(bounds.max_events) +
                                          " events that are not delivered yet; nothing was written");
}

}  // namespace waybill::sqlite
