#include "mysql/mysql_repository.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "common/requests.hpp"
#include "mysql/mysql_schema.hpp"
#include "mysql/mysql_tokens.hpp"
#include "waybill/lifecycle.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

constexpr std::chrono::seconds kNextTimeAfter{1};  ///< a server that did not say the time is not asked again so long

std::vector<Token> tokens_of(const std::vector<Event>& events) {
  std::vector<Token> tokens;
  for (const Event& event : events) tokens.push_back(token_of(event));
  return tokens;
}

}  // namespace

void pause_before(int attempt) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const int most = 1 << std::min(attempt, 7);  // ms
  std::this_thread::sleep_for(std::chrono::milliseconds{std::uniform_int_distribution<int>{1, most}(random)});
}

MysqlRepository::Session::Session(const MysqlOptions& options)
    : connection(options),
      scanner(connection, !options.table && claim_index_is_the_seeds(connection)),
      insert_facts(connection.statements()) {
  require_current(connection.statements(), "'" + options.database + "'");
  if (!options.table) return;
  adopted.emplace(connection, read_table(connection.statements(), *options.table), options.mode != OpenMode::read_only);
}

MysqlRepository::MysqlRepository(MysqlOptions options) : options_(std::move(options)) {
  try {
    open();
    if (adopted() && options_.mode != OpenMode::read_only) adopted()->check_at_start(options_.log);
  } catch (const StorageError& error) {
    rethrow_with("open", error);
  }
}

void MysqlRepository::open() {
  session_.reset();
  if (options_.mode == OpenMode::create) {
    Connection connection(options_);
    migrate(connection, options_);
    options_.mode = OpenMode::read_write;  // to reopen it is not to create it
  }
  session_ = std::make_unique<Session>(options_);
  broken_ = false;
  signs_.reset();
}

void MysqlRepository::set_up() {
  if (broken_ || session_ == nullptr) open();
}

void MysqlRepository::rethrow_with(const char* doing, const StorageError& error) const {
  if (dynamic_cast<const InvalidEvent*>(&error) != nullptr) throw error;
  throw StorageError(error.code(), std::string(doing) + " on '" + options_.database + "': " + error.what());
}

// The relay asks in the middle of a delivery, too: its outcomes must not be lost because the server is away just then.
Timestamp MysqlRepository::now() {
  using std::chrono::steady_clock;
  if (options_.clock != nullptr) return options_.clock->now();
  if (steady_clock::now() >= ask_time_again_) {
    try {
      known_time_ = guarded("now", [&] { return session_->connection.now(); });
      known_time_at_ = steady_clock::now();
    } catch (const StorageError&) {
      if (!known_time_) throw;
      ask_time_again_ = steady_clock::now() + kNextTimeAfter;
    }
  }
  return *known_time_ + std::chrono::duration_cast<Duration>(steady_clock::now() - known_time_at_);
}

std::vector<AppendResult> MysqlRepository::append(std::span<const NewEvent> events) {
  require_valid(events, options_.limits);
  if (events.empty()) return {};
  BatchWriter batch(events, insert_facts());
  const auto append_once = [&] {
    return transact("append", [&] {
      return adopted() ? adopted()->append(events, session_->connection.now()) : batch.run(statements());
    });
  };
  std::vector<AppendResult> results;
  try {
    results = append_once();
  } catch (const LostCommit& lost) {
    // What was committed is found by the ids it got, what was not is inserted now.
    results = look_up("append", lost, append_once);
  }
  signs_.reset();
  return results;
}

InsertFacts MysqlRepository::insert_facts() {
  return guarded("append", [&] { return session_->insert_facts; });
}

ClaimResult MysqlRepository::claim_within(const ClaimRequest& request) {
  // Before the scans: what arrives while they run is then seen as new. Only a relay that finds too little will wait.
  signs_.reset();
  if (short_claim_) signs_ = signs();
  const auto scan = [&](const ClaimRequest& what) { return session_->scanner.claim(what); };
  ClaimResult result = adopted() ? adopted()->claim(request, scan) : scan(request);
  short_claim_ = result.events.size() < request.limit && !result.more;
  return result;
}

MysqlRepository::Signs MysqlRepository::signs() {
  return {session_->scanner.signs(), adopted() ? adopted()->sign() : 0};
}

ClaimResult MysqlRepository::claim(const ClaimRequest& request) {
  backends::require_sensible(request);
  ClaimResult claimed;
  try {
    return transact("claim", [&] { return claimed = claim_within(request); });
  } catch (const LostCommit& lost) {
    return look_up("claim", lost, [&] { return claim_after_lost_commit(claimed); });
  }
}

// Ours are those that carry our name and the version we gave them; the others were rolled back.
ClaimResult MysqlRepository::claim_after_lost_commit(const ClaimResult& intended) {
  const std::vector<Token> tokens = tokens_of(intended.events);
  ClaimResult result;
  if (tokens.empty()) return result;
  const std::vector<Token> ours = write("claim", [&] { return held(tokens); });
  for (const Event& event : intended.events)
    if (std::find(ours.begin(), ours.end(), token_of(event)) != ours.end()) result.events.push_back(event);
  return result;
}

/// Those of the tokens that hold, locked. Within a transaction.
std::vector<Token> MysqlRepository::held(std::span<const Token> tokens) {
  std::vector<Token> holding;
  for (const std::span<const Token> part : by_holder(tokens)) {
    Statement& look = statements().get_list(texts::held_rows, part.size());
    add_tokens(look, part);
    const Query rows(look);
    while (rows->next())
      for (const Token& token : part)
        if (token.id == rows->integer(0) && token.version == rows->integer(1)) holding.push_back(token);
  }
  return holding;
}

std::vector<SettleStatus> MysqlRepository::extend(std::span<const Token> tokens, Duration lease) {
  if (tokens.empty()) return {};
  return write("extend", [&] {
    const std::vector<Token> ours = held(tokens);
    if (!ours.empty()) {
      Statement& rows = statements().get_list(texts::extend, ours.size());
      rows.add(static_cast<std::int64_t>(lease.count()));
      rows.add_list(ours, [](const Token& token) { return token.id; }).run();
    }
    std::vector<SettleStatus> statuses;
    for (const Token& token : tokens)
      statuses.push_back(std::find(ours.begin(), ours.end(), token) != ours.end() ? SettleStatus::applied
                                                                                  : SettleStatus::fenced);
    return statuses;
  });
}

std::vector<ExpiredLease> MysqlRepository::expired(std::size_t limit) {
  return read("expired", [&] {
    std::vector<ExpiredLease> leases;
    const Query rows(statements().get(texts::expired).add(static_cast<std::int64_t>(limit)));
    while (rows->next())
      leases.push_back(
          {Token{rows->integer(0), static_cast<std::int32_t>(rows->integer(1)), std::string(rows->text(2))},
           std::string(rows->text(3)), static_cast<std::int32_t>(rows->integer(4)),
           static_cast<std::int32_t>(rows->integer(5))});
    return leases;
  });
}

bool MysqlRepository::wait_for_work(Duration timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  const auto was_woken = [&] {
    const bool woken = woken_;
    woken_ = false;
    return woken;
  };
  for (;;) {
    const Signs seen = read("wait", [&] { return signs(); });
    const bool changed = signs_ != seen;
    signs_ = seen;
    std::unique_lock lock(wake_mutex_);
    if (was_woken() || changed) return true;
    const auto next = std::min(until, std::chrono::steady_clock::now() + options_.look_every);
    if (waking_.wait_until(lock, next, [&] { return woken_; })) return was_woken();
    if (next == until) return false;
  }
}

void MysqlRepository::wake() noexcept {
  const std::lock_guard lock(wake_mutex_);
  woken_ = true;
  waking_.notify_all();
}

}  // namespace waybill::mysql

namespace waybill {

std::unique_ptr<IEventRepository> open_mysql(const MysqlOptions& options) {
  return std::make_unique<mysql::MysqlRepository>(options);
}

}  // namespace waybill
