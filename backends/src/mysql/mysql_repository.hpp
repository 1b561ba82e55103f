#pragma once
// IEventRepository on MySQL and MariaDB. Delivery is in mysql_repository.cpp, settling in mysql_settle.cpp, questions
// in mysql_queries.cpp, upkeep in mysql_upkeep.cpp and mysql_rollup.cpp, `doctor` in mysql_diagnose.cpp.

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mysql/mysql_adopted.hpp"
#include "mysql/mysql_claim.hpp"
#include "mysql/mysql_connection.hpp"
#include "mysql/mysql_writer.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::mysql {

/// Thread-compatible: one per thread; each has one connection.
///
/// Every call is one short transaction at READ COMMITTED. A deadlock or a lock wait time-out is repeated here with
/// jitter; a connection that breaks is opened again at once, and by the next call when that fails or the server kept
/// silent for the whole time-out. A COMMIT whose answer was lost is looked up: append by its ids, claim and settle by
/// their tokens.
class MysqlRepository final : public IEventRepository {
 public:
  explicit MysqlRepository(MysqlOptions options);

  std::vector<AppendResult> append(std::span<const NewEvent> events) override;
  ClaimResult claim(const ClaimRequest& request) override;
  std::vector<SettleStatus> settle(std::span<const Settlement> settlements) override;
  ExchangeResult exchange(std::span<const Settlement> settlements, const ClaimRequest& request) override;
  std::vector<SettleStatus> extend(std::span<const Token> tokens, Duration lease) override;
  std::vector<ExpiredLease> expired(std::size_t limit) override;
  Timestamp now() override;
  bool wait_for_work(Duration timeout) override;
  void wake() noexcept override;

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
  /// What is tied to one connection; made anew after it broke.
  struct Session {
    explicit Session(const MysqlOptions& options);
    Connection connection;
    std::optional<Adopted> adopted;  ///< when the store is somebody else's table
    ClaimScanner scanner;
    InsertFacts insert_facts;
  };

  /// Numbers that change when there may be something to claim that the last claim did not see.
  using Signs = std::pair<ClaimScanner::Signs, std::int64_t>;

  void open();
  [[nodiscard]] Statements& statements() { return session_->connection.statements(); }
  [[nodiscard]] std::optional<Adopted>& adopted() { return session_->adopted; }
  /// Statements for questions about such rows.
  [[nodiscard]] Statements& asking(backends::AdoptedTable::View view) {
    return adopted() ? adopted()->view(view) : statements();
  }
  /// Runs `work` on a sound connection, repeating it as long as the failure allows it: nothing was written then.
  template <class Work>
  auto guarded(const char* doing, Work work) -> decltype(work());
  /// `work` within one transaction. After a lost COMMIT it throws LostCommit.
  template <class Work>
  auto transact(const char* doing, Work work) -> decltype(work());
  /// As transact(), for work that nobody can look up: a lost COMMIT is an error.
  template <class Work>
  auto write(const char* doing, Work work) -> decltype(work());
  /// `look` finds out what became of a lost COMMIT. Whatever hinders it, the outcome stays unknown.
  template <class Look>
  auto look_up(const char* doing, const LostCommit& lost, Look look) -> decltype(look());
  /// `work` within one read-only snapshot of the moment.
  template <class Work>
  auto read(const char* doing, Work work) -> decltype(work());
  void set_up();
  [[noreturn]] void rethrow_with(const char* doing, const StorageError& error) const;

  [[nodiscard]] InsertFacts insert_facts();
  [[nodiscard]] Signs signs();
  ClaimResult claim_within(const ClaimRequest& request);
  ClaimResult claim_after_lost_commit(const ClaimResult& intended);
  std::vector<SettleStatus> settle_within(std::span<const Settlement> settlements, bool together);
  std::vector<SettleStatus> settle_each(std::span<const Settlement> settlements, bool together);
  std::vector<SettleStatus> settle_after_lost_commit(std::span<const Settlement> settlements);
  std::vector<Token> held(std::span<const Token> tokens);
  void hint(std::span<const Settlement> settlements);

  std::vector<Event> query_within(const EventFilter& filter, const Page& page);
  std::size_t change_matching(const EventFilter& filter, Command command, std::string_view reason, std::size_t limit);
  /// Each adopted table has notes of its own.
  [[nodiscard]] std::string note_name(std::string_view name) const {
    return std::string(name) + (options_.table ? " of " + options_.table->table : "");
  }
  [[nodiscard]] std::string purged_counter() { return adopted() ? adopted()->table().purged_counter() : "purged"; }
  std::size_t purge_within(Timestamp before, std::size_t limit);
  std::vector<std::int64_t> resting_before(std::string_view text, Timestamp before, std::size_t limit);

  MysqlOptions options_;
  std::unique_ptr<Session> session_;
  bool broken_{false};
  bool settle_in_doubt_{false};  ///< a settle's COMMIT was lost and could not be looked up yet
  // The server's time as of the last answer:
  std::optional<Timestamp> known_time_;
  std::chrono::steady_clock::time_point known_time_at_{};
  std::chrono::steady_clock::time_point ask_time_again_{};
  // Waiting:
  bool short_claim_{false};     ///< the last claim saw all and brought less than asked for
  std::optional<Signs> signs_;  ///< as of the last claim; empty: look at once
  std::mutex wake_mutex_;
  std::condition_variable waking_;
  bool woken_{false};
};

// The templates are used by all files of this class.

constexpr int kMostAttempts = 12;
constexpr std::chrono::seconds kLongestBusy{10};  ///< no further attempt after so long, or after the time-out

void pause_before(int attempt);

template <class Work>
auto MysqlRepository::guarded(const char* doing, Work work) -> decltype(work()) {
  const auto begun = std::chrono::steady_clock::now();
  bool reopened = false;
  for (int attempt = 1;; ++attempt) {
    try {
      set_up();
      return work();
    } catch (const ServerError& error) {
      broken_ = broken_ || breaks_connection(error.number());
      const auto passed = std::chrono::steady_clock::now() - begun;
      const bool again =
          error.code() == ErrorCode::busy
              ? attempt < kMostAttempts && passed < std::min<Duration>(kLongestBusy, options_.timeout)
              : broken_ && session_ != nullptr && passed < options_.timeout && !std::exchange(reopened, true);
      if (!again) rethrow_with(doing, error);
    } catch (const LostCommit&) {
      broken_ = true;
      throw;
    } catch (const StorageError& error) {
      rethrow_with(doing, error);
    }
    if (!broken_) pause_before(attempt);
  }
}

template <class Work>
auto MysqlRepository::transact(const char* doing, Work work) -> decltype(work()) {
  return guarded(doing, [&] {
    Transaction transaction(session_->connection);
    try {
      auto result = work();
      transaction.commit();
      return result;
    } catch (...) {
      if (adopted()) adopted()->rolled_back();
      throw;
    }
  });
}

template <class Work>
auto MysqlRepository::write(const char* doing, Work work) -> decltype(work()) {
  try {
    return transact(doing, work);
  } catch (const LostCommit& lost) {
    rethrow_with(doing, lost.error);
  }
}

template <class Look>
auto MysqlRepository::look_up(const char* doing, const LostCommit& lost, Look look) -> decltype(look()) {
  try {
    return look();
  } catch (const LostCommit&) {
    rethrow_with(doing, lost.error);
  } catch (const StorageError& error) {
    throw StorageError(ErrorCode::outcome_unknown, lost.error.what() + std::string("; then ") + error.what());
  }
}

template <class Work>
auto MysqlRepository::read(const char* doing, Work work) -> decltype(work()) {
  return guarded(doing, [&] {
    session_->connection.follow_clock();
    return work();
  });
}

}  // namespace waybill::mysql
