// Recording outcomes: those that say the same in one statement, by primary key and version.

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_set>

#include "common/requests.hpp"
#include "mysql/mysql_repository.hpp"
#include "mysql/mysql_tokens.hpp"
#include "waybill_sql_mysql.hpp"

namespace waybill::mysql {
namespace {

namespace texts = sql::mysql;

/// Of settlements written together, some were fenced. Never leaves this file.
struct SomeFenced {};

/// Settlements that differ in nothing but the event.
struct Group {
  const Settlement* first;
  std::vector<Token> tokens;
};

struct TextOf {
  Command command;
  std::string_view text;
  bool has_time;
  bool has_reason;
};

constexpr std::array<TextOf, 5> kTexts{{{Command::succeed, texts::settle_succeed, false, false},
                                        {Command::fail, texts::settle_fail, true, true},
                                        {Command::expire, texts::settle_expire, true, true},
                                        {Command::reject, texts::settle_reject, false, true},
                                        {Command::release, texts::settle_release, true, false}}};

const TextOf& text_of(Command command) {
  return *std::find_if(kTexts.begin(), kTexts.end(), [&](const TextOf& one) { return one.command == command; });
}

bool names_one_twice(std::span<const Settlement> settlements) {
  std::unordered_set<std::int64_t> ids;
  return std::any_of(settlements.begin(), settlements.end(),
                     [&](const Settlement& one) { return !ids.insert(one.token.id).second; });
}

std::vector<Group> grouped(std::span<const Settlement> settlements) {
  using Key = std::tuple<Command, std::optional<Timestamp>, std::string_view, bool, std::string_view, std::int32_t>;
  std::map<Key, std::size_t> places;
  std::vector<Group> groups;
  for (const Settlement& one : settlements) {
    const TextOf& text = text_of(one.command);
    const Key key{one.command,
                  text.has_time ? one.next_retry_time : std::nullopt,
                  text.has_reason ? std::string_view(one.reason) : std::string_view{},
                  one.cancel_if_dead,
                  one.token.owner,
                  one.token.version};
    const auto [place, added] = places.try_emplace(key, groups.size());
    if (added || groups[place->second].tokens.size() == kMostPlaces) {
      place->second = groups.size();
      groups.push_back({&one, {}});
    }
    groups[place->second].tokens.push_back(one.token);
  }
  return groups;
}

std::uint64_t run_settle(Statements& statements, const Settlement& what, std::span<const Token> tokens) {
  const TextOf& text = text_of(what.command);
  const std::string reason = clip_reason(what.reason);
  Statement& rows = statements.get_list(text.text, tokens.size());
  if (text.has_time) rows.add(what.next_retry_time);
  if (text.has_reason) rows.add(std::string_view(reason));
  add_tokens(rows, tokens);
  return rows.run();
}

void cancel_dead(Statements& statements, std::span<const Token> tokens) {
  statements.get_list(texts::cancel_dead, tokens.size())
      .add_list(tokens, [](const Token& token) { return token.id; })
      .run();
}

bool applied(Statements& statements, const Settlement& what, std::span<const Token> tokens) {
  if (run_settle(statements, what, tokens) != tokens.size()) return false;
  if (what.cancel_if_dead && what.command != Command::succeed && what.command != Command::release)
    cancel_dead(statements, tokens);
  return true;
}

struct Standing {
  std::int64_t version;
  Status status;
  std::string reason;
};

/// True when the row stands as the settlement would have left it. Only the holder of a version can have done so.
bool stands_settled(const Standing& row, const Settlement& settlement) {
  if (row.version != settlement.token.version) return false;
  const bool cancelled = settlement.cancel_if_dead && row.status == Status::cancelled;
  if (row.status != transition(settlement.command).to && !cancelled) return false;
  return !text_of(settlement.command).has_reason || row.reason == clip_reason(settlement.reason);
}

}  // namespace

std::vector<std::span<const Token>> by_holder(std::span<const Token> tokens) {
  std::vector<std::span<const Token>> parts;
  while (!tokens.empty()) {
    const Token& first = tokens.front();
    std::size_t count = 1;
    while (count < tokens.size() && count < kMostPlaces && tokens[count].owner == first.owner &&
           tokens[count].version == first.version)
      ++count;
    parts.push_back(tokens.first(count));
    tokens = tokens.subspan(count);
  }
  return parts;
}

void add_tokens(Statement& statement, std::span<const Token> tokens) {
  statement.add_list(tokens, [](const Token& token) { return token.id; });
  statement.add(std::int64_t{tokens.front().version}).add(std::string_view(tokens.front().owner));
}

void delete_rows(Statements& statements, std::string_view text, std::span<const std::int64_t> ids) {
  in_parts(ids, [&](std::span<const std::int64_t> part) {
    Statement& rows = statements.get_list(text, part.size());
    rows.add_list(part, kItself).add(static_cast<std::int64_t>(part.size())).run();
  });
}

std::vector<SettleStatus> MysqlRepository::settle_within(std::span<const Settlement> settlements, bool together) {
  std::vector<SettleStatus> statuses = settle_each(settlements, together);
  if (adopted()) adopted()->show_settled(settlements, statuses);
  return statuses;
}

std::vector<SettleStatus> MysqlRepository::settle_each(std::span<const Settlement> settlements, bool together) {
  std::vector<SettleStatus> statuses(settlements.size(), SettleStatus::applied);
  if (together) {
    for (const Group& group : grouped(settlements))
      if (!applied(statements(), *group.first, group.tokens)) throw SomeFenced{};
    return statuses;
  }
  for (std::size_t at = 0; at < settlements.size(); ++at)
    if (!applied(statements(), settlements[at], std::span(&settlements[at].token, 1)))
      statuses[at] = SettleStatus::fenced;
  return statuses;
}

// A COMMIT without an answer: what stands as we would have left it was ours. FOR UPDATE waits for a COMMIT that is
// still under way on the lost connection.
std::vector<SettleStatus> MysqlRepository::settle_after_lost_commit(std::span<const Settlement> settlements) {
  settle_in_doubt_ = true;  // until it is known
  std::vector<SettleStatus> statuses = write("settle", [&] {
    std::vector<SettleStatus> found;
    for (const Settlement& settlement : settlements) {
      const bool was_ours = [&] {
        Statement& look = statements().get_list(texts::outcome_rows, 1);
        const Query row(look.add(settlement.token.id));
        if (!row->next()) return false;
        return stands_settled({row->integer(1), static_cast<Status>(row->integer(2)), std::string(row->text(4))},
                              settlement);
      }();
      const bool done = was_ours || applied(statements(), settlement, std::span(&settlement.token, 1));
      found.push_back(done ? SettleStatus::applied : SettleStatus::fenced);
    }
    if (adopted()) adopted()->show_settled(settlements, found);
    return found;
  });
  settle_in_doubt_ = false;
  return statuses;
}

std::vector<SettleStatus> MysqlRepository::settle(std::span<const Settlement> settlements) {
  backends::require_sensible(settlements);
  if (settlements.empty()) return {};
  std::vector<SettleStatus> statuses;
  try {
    if (settle_in_doubt_) return settle_after_lost_commit(settlements);
    const auto run = [&](bool together) {
      return transact("settle", [&] { return settle_within(settlements, together); });
    };
    try {
      statuses = run(!names_one_twice(settlements));
    } catch (const SomeFenced&) {
      statuses = run(false);
    }
  } catch (const LostCommit& lost) {
    return look_up("settle", lost, [&] { return settle_after_lost_commit(settlements); });
  }
  hint(settlements);
  signs_.reset();
  return statuses;
}

ExchangeResult MysqlRepository::exchange(std::span<const Settlement> settlements, const ClaimRequest& request) {
  backends::require_sensible(settlements);
  backends::require_sensible(request);
  if (settle_in_doubt_) return {settle(settlements), claim(request)};
  ExchangeResult result;
  const auto run = [&](bool together) {
    return transact("exchange", [&] {
      result.settled = settle_within(settlements, together);
      hint(settlements);
      result.claimed = claim_within(request);
      return 0;
    });
  };
  try {
    try {
      run(!names_one_twice(settlements));
    } catch (const SomeFenced&) {
      run(false);
    }
  } catch (const LostCommit& lost) {
    settle_in_doubt_ = true;
    look_up("exchange", lost, [&] {
      result.claimed = claim_after_lost_commit(result.claimed);
      result.settled = settle_after_lost_commit(settlements);
    });
  }
  return result;
}

void MysqlRepository::hint(std::span<const Settlement> settlements) {
  if (!session_->scanner.wants_hints()) return;
  for (const Settlement& settlement : settlements) session_->scanner.hint(settlement.token.id);
}

}  // namespace waybill::mysql
