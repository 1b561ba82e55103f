#pragma once
// Inserting events once, whoever else inserts them too.

#include <span>
#include <vector>

#include "mysql/mysql_statement.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/snowflake.hpp"

namespace waybill::mysql {

/// The ids of one batch, in append order. They are given before the transaction and stay the same when it is repeated:
/// so a repetition after a COMMIT without an answer finds its own rows and says "inserted".
class BatchIds {
 public:
  BatchIds(SnowflakeIds& source, Timestamp now, std::size_t count);
  [[nodiscard]] std::int64_t of(std::size_t index) const { return ids_[index]; }
  /// The id was taken by another row: a new one.
  void replace(std::size_t index) { ids_[index] = source_.next(now_); }

 private:
  SnowflakeIds& source_;
  Timestamp now_;
  std::vector<std::int64_t> ids_;
};

/// A worker number for SnowflakeIds that differs between processes and machines as far as chance goes; a collision of
/// two ids is noticed by append and costs a new id.
[[nodiscard]] std::uint32_t random_worker();

/// Within a transaction. `counts_found`: the connection counts found rows instead of changed ones
/// (CLIENT_FOUND_ROWS), so that each batch is read again.
[[nodiscard]] std::vector<AppendResult> append_events(Statements& statements, std::span<const NewEvent> events,
                                                      BatchIds& ids, std::size_t max_packet, bool counts_found);

}  // namespace waybill::mysql
