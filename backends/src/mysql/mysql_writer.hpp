#pragma once
// Inserting events once, whoever else inserts them too.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mysql/mysql_statement.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::mysql {

/// What a connection says once about inserting.
struct InsertFacts {
  explicit InsertFacts(Statements& statements);
  std::size_t max_packet;       ///< bytes a statement with its values may have
  std::int64_t auto_increment;  ///< distance between two ids that the server gives
};

/// Appends one batch within a transaction; made anew for each batch, and kept while its transaction is repeated.
///
/// The server gives the ids, in the order of the batch: so they follow the order in which transactions that touch one
/// aggregate come one after the other, on whichever machine. (Ids from clocks would not: two transactions fit into one
/// millisecond.) Rows go in by plain INSERTs. One that meets a number that is there is undone by the server as a whole;
/// then the batch is compared with what is there, and what is missing goes in.
class BatchWriter {
 public:
  BatchWriter(std::span<const NewEvent> events, const InsertFacts& facts);

  /// Throws InvalidEvent when the server refuses a row. May be called again after the transaction failed, or after its
  /// COMMIT went without an answer: then rows that carry an id given by an earlier call count as inserted by it.
  [[nodiscard]] std::vector<AppendResult> run(Statements& statements);

 private:
  using Rows = std::vector<std::size_t>;  ///< places in the batch
  [[nodiscard]] Rows compare(Statements& statements, const Rows& rows, std::string_view find);
  [[nodiscard]] bool insert(Statements& statements, const Rows& rows);
  [[nodiscard]] bool insert_rows(Statements& statements, std::span<const std::size_t> rows);
  void judge(const Event& stored, std::size_t index);
  void judge_repeated(Statements& statements);
  void withdraw_archived(Statements& statements, const std::vector<std::int64_t>& earlier_ids);

  std::span<const NewEvent> events_;
  InsertFacts facts_;
  Rows firsts_;    ///< of each number the first that carries it
  Rows repeated_;  ///< the others
  std::vector<AppendResult> results_;
  std::vector<std::int64_t> given_ids_;  ///< by the last call that inserted the event; 0: by none
};

}  // namespace waybill::mysql
