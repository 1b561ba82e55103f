// What an operator does.

#include <algorithm>

#include "common/requests.hpp"
#include "mysql/mysql_repository.hpp"
#include "mysql/mysql_rollup.hpp"
#include "mysql/mysql_tokens.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

}  // namespace

std::size_t MysqlRepository::change_matching(const EventFilter& filter, Command command, std::string_view reason,
                                             std::size_t limit) {
  const std::optional<EventFilter> allowed = backends::narrowed(filter, command);
  if (!allowed || limit == 0) return 0;
  const std::string kept = clip_reason(reason);
  const std::size_t changed = write(to_string(command).data(), [&] {
    std::vector<std::int64_t> ids;
    if (adopted()) adopted()->bring_in_all();
    for (const Event& event : query_within(*allowed, Page{limit, false, std::nullopt})) ids.push_back(event.id);
    std::size_t count = 0;
    in_parts(ids, [&](std::span<const std::int64_t> part) {
      const bool requeue = command == Command::requeue;
      Statement& rows = statements().get_list(requeue ? texts::requeue_rows : texts::cancel_rows, part.size());
      if (!requeue) rows.add(std::string_view(kept));
      count += rows.add_list(part, kItself).run();
    });
    if (adopted()) adopted()->show(ids);
    return count;
  });
  if (changed == 0) return 0;
  signs_.reset();
  session_->scanner.start_over();
  return changed;
}

std::size_t MysqlRepository::requeue(const EventFilter& filter, std::size_t limit) {
  return change_matching(filter, Command::requeue, {}, limit);
}

std::size_t MysqlRepository::cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) {
  return change_matching(filter, Command::cancel, reason, limit);
}

std::vector<std::int64_t> MysqlRepository::resting_before(std::string_view text, Timestamp before, std::size_t limit) {
  return integers(statements().get(text).add(before).add(static_cast<std::int64_t>(limit)));
}

std::size_t MysqlRepository::archive(Timestamp before, std::size_t limit) {
  if (limit == 0) return 0;
  return write("archive", [&] {
    if (adopted()) adopted()->table().refuse_archive();
    const std::vector<std::int64_t> ids = resting_before(texts::finished, before, limit);
    in_parts(ids, [&](std::span<const std::int64_t> part) {
      Statement& copy = statements().get_list(texts::archive_copy, part.size());
      copy.add_list(part, kItself).run();
      delete_rows(statements(), texts::delete_rows, part);
    });
    return ids.size();
  });
}

std::size_t MysqlRepository::purge(Timestamp before, std::size_t limit) {
  if (limit == 0) return 0;
  return write("purge", [&] {
    const std::size_t count = adopted() ? adopted()->purge(before, limit) : purge_within(before, limit);
    const std::string counter = purged_counter();
    Statement& books = statements().get(texts::add_to_counter);
    if (count != 0) books.add(std::string_view(counter)).add(static_cast<std::int64_t>(count)).run();
    return count;
  });
}

std::size_t MysqlRepository::purge_within(Timestamp before, std::size_t limit) {
  const std::int64_t cursor = lock_rollup_cursor(statements());
  const auto purge_rows = [&](EventTable table, std::string_view text, const std::vector<std::int64_t>& ids) {
    in_parts(ids, [&](std::span<const std::int64_t> part) {
      book_purged(statements(), table, cursor, part);
      delete_rows(statements(), text, part);
    });
    return ids.size();
  };
  const std::size_t count =
      purge_rows(EventTable::archive, texts::purge_archived, resting_before(texts::old_archived, before, limit));
  if (count == limit) return count;
  return count +
         purge_rows(EventTable::main, texts::delete_rows, resting_before(texts::finished, before, limit - count));
}

}  // namespace waybill::mysql
