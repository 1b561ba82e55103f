#pragma once
// IEventRepository on a SQLite file. Delivery is in sqlite_repository.cpp, questions in sqlite_queries.cpp, upkeep in
// sqlite_upkeep.cpp and sqlite_rollup.cpp, `doctor` in sqlite_diagnose.cpp.

#include <memory>
#include <string>

#include "sqlite/sqlite_adopted.hpp"
#include "sqlite/sqlite_buffer.hpp"
#include "sqlite/sqlite_claim.hpp"
#include "sqlite/sqlite_connection.hpp"
#include "sqlite/sqlite_wakeup.hpp"
#include "sqlite/sqlite_writer.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::sqlite {

/// Thread-compatible: one per thread; many may share a file, within and across processes.
class SqliteRepository final : public IEventRepository {
 public:
  explicit SqliteRepository(SqliteOptions options);

  std::vector<AppendResult> append(std::span<const NewEvent> events) override;
  ClaimResult claim(const ClaimRequest& request) override;
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override;
  ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request) override;
  std::vector<SettleStatus> extend(std::span<const Token> tokens, Duration lease) override;
  std::vector<ExpiredLease> expired(std::size_t limit) override;
  Timestamp now() override { return options_.clock->now(); }
  bool wait_for_work(Duration timeout) override;
  void wake() noexcept override { wakeup_.wake(); }

  std::optional<Event> find(std::string_view event_no) override;
  std::vector<Event> query(const EventFilter& filter, const Page& page) override;
  Stats stats(const StatsRequest& request) override;
  std::vector<DailyCount> daily_stats(const DailyStatsRequest& request) override;
  Backlog backlog() override;
  std::vector<ChannelBacklog> backlog_by_channel() override;
  std::vector<Finding> diagnose() override;
  std::optional<std::string> note(std::string_view name) override;
  void set_note(std::string_view name, std::string_view value) override;

  std::size_t requeue(const EventFilter& filter, std::size_t limit) override;
  std::size_t cancel(const EventFilter& filter, std::string_view reason, std::size_t limit) override;
  std::size_t archive(Timestamp before, std::size_t limit) override;
  std::size_t purge(Timestamp before, std::size_t limit) override;
  RollupResult rollup(std::size_t limit) override;

 private:
  /// What is tied to one open file; made anew after a failure that broke the handle.
  struct Session {
    explicit Session(const SqliteOptions& options);
    Connection connection;
    std::optional<Adopted> adopted;  ///< when the store is somebody else's table
    ClaimScanner scanner;
    std::int64_t seen_version{-1};  ///< data_version at the last claim
    bool order_index{false};        ///< known to be there
    bool create_time_index{false};  ///< known to be there
  };

  void open();
  void create_tables();
  [[nodiscard]] Statements& statements() { return session_->connection.statements(); }
  [[nodiscard]] std::optional<Adopted>& adopted() { return session_->adopted; }
  /// Statements for questions about such rows.
  [[nodiscard]] Statements& asking(backends::AdoptedTable::View view) {
    return adopted() ? adopted()->view(view) : statements();
  }
  /// Runs `work`; a failure that leaves the handle in doubt makes the next call reopen the file.
  template <class Work>
  auto guarded(const char* doing, Work work) -> decltype(work());
  /// `work` within one write transaction, then a checkpoint when one is due.
  template <class Work>
  auto write(const char* doing, Work work) -> decltype(work());
  /// `work` within one read transaction: one snapshot.
  template <class Work>
  auto read(const char* doing, Work work) -> decltype(work());
  /// Adds what was being done, and marks the handle broken when the failure leaves it in doubt. Only within a handler.
  [[noreturn]] void rethrow_with(const char* doing, const StorageError& error);
  void require_in_place();

  ClaimResult claim_within(const ClaimRequest& request);
  /// How settlements are written: successes of one version in one statement, which cannot say which of them were
  /// fenced, or each in its own.
  enum class Rows { together, one_by_one };
  /// `work` with successes together; when some of them turn out to be fenced, the transaction is rolled back and `work`
  /// is done again row by row.
  template <class Work>
  auto settling(Work work) -> decltype(work(Rows::together));
  std::vector<SettleStatus> settle_within(std::span<const Settlement> settlements, Rows rows);
  void succeed_together(std::span<const Settlement> settlements, Timestamp now);
  SettleStatus settle_one(const Settlement& settlement, Timestamp now);
  void prepare_claim(const ClaimRequest& request);
  [[nodiscard]] bool has_wal_room(std::uint64_t incoming);
  void make_wal_room(std::uint64_t incoming, int& restarts_left);
  Appended append_within_bounds(std::span<const NewEvent> events);
  void report_dropped(std::uint64_t dropped);
  std::vector<Event> query_within(const EventFilter& filter, const Page& page);
  [[nodiscard]] std::optional<Timestamp> create_time_of(std::optional<std::int64_t> id);
  std::size_t each_matching(const EventFilter& filter, Command command, std::string_view reason, std::size_t limit);
  /// Each adopted table has notes of its own.
  [[nodiscard]] std::string note_name(std::string_view name) const {
    return std::string(name) + (options_.table ? " of " + options_.table->table : "");
  }
  [[nodiscard]] std::string purged_counter() { return adopted() ? adopted()->table().purged_counter() : "purged"; }
  std::size_t purge_within(Timestamp before, std::size_t limit);
  std::vector<std::int64_t> resting_before(std::string_view text, Timestamp before, std::size_t limit);

  SqliteOptions options_;
  Bounds bounds_;
  std::unique_ptr<Session> session_;
  WakeUp wakeup_;
  bool broken_{false};
  bool changed_{true};  ///< this instance changed something since its last claim
};

template <class Work>
auto SqliteRepository::guarded(const char* doing, Work work) -> decltype(work()) {
  try {
    if (broken_) open();
    return work();
  } catch (const StorageError& error) {
    rethrow_with(doing, error);
  }
}

template <class Work>
auto SqliteRepository::write(const char* doing, Work work) -> decltype(work()) {
  return guarded(doing, [&] {
    require_in_place();
    WriteTransaction transaction(statements());
    try {
      auto result = work();
      transaction.commit();
      session_->connection.checkpoint_if_due();
      return result;
    } catch (...) {
      if (adopted()) adopted()->rolled_back();
      throw;
    }
  });
}

template <class Work>
auto SqliteRepository::read(const char* doing, Work work) -> decltype(work()) {
  return guarded(doing, [&] {
    const ReadTransaction transaction(statements());
    return work();
  });
}

}  // namespace waybill::sqlite
