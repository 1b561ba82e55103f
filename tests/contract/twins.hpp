#pragma once
// A store beside the reference: both get the same commands and must give the same answers.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contract/store_under_test.hpp"

namespace waybill::test {

/// A token given out by a claim, as each side knows it; valid or stale by now.
struct HeldToken {
  Token reference;
  Token subject;
};

/// Ids may differ between the two (gaps), their order may not; everything else must be equal. Throws rapidcheck's
/// failure at the first difference.
class Twins {
 public:
  static constexpr std::size_t kConnections = 2;  ///< one per owner

  Twins(const StoreKind& subject, const StoreSettings& settings);

  [[nodiscard]] Timestamp now() { return reference_.database->clock().now(); }
  void advance(Duration by);
  void reopen();

  void append(std::size_t connection, const std::vector<NewEvent>& events);
  void claim(std::size_t connection, const ClaimRequest& request);
  /// Where a settlement's or a token's place in `held` is given, both sides use their own token.
  struct Settling {
    HeldToken token;
    Settlement rest;
  };
  void settle(std::size_t connection, const std::vector<Settling>& settlings);
  void exchange(std::size_t connection, const std::vector<Settling>& settlings, const ClaimRequest& request);
  void extend(std::size_t connection, const std::vector<HeldToken>& tokens, Duration lease);
  /// Settles what `expired` lists.
  void recover(std::size_t connection, std::size_t limit, std::optional<Timestamp> next, bool cancel_if_dead);
  void requeue(const EventFilter& filter, std::size_t limit);
  void cancel(const EventFilter& filter, std::size_t limit);
  /// Where the store has no archive: nothing.
  void archive(Timestamp before, std::size_t limit);
  void purge(Timestamp before, std::size_t limit);
  /// As often as there is more; then the days must add up to the events that are or were there.
  void rollup(std::size_t connection, std::size_t limit);
  /// `after`: the page starts behind this event, if it was ever seen.
  void query(const EventFilter& filter, Page page, const std::string& after);
  void stats(const StatsRequest& request);

  /// Every row of the main table, the counts and the books.
  void compare();
  /// Each number ever used, archived or not.
  void compare_finds();

  [[nodiscard]] const std::vector<HeldToken>& held() const { return held_; }

 private:
  struct Side {
    std::unique_ptr<TestDatabase> database;
    std::array<std::unique_ptr<IEventRepository>, kConnections> connections;
    std::map<std::string, std::int64_t> ids;      ///< the latest id of each number
    std::map<std::int64_t, std::string> numbers;  ///< of each id

    void open();
    void learn(const std::string& event_no, std::int64_t id);
    [[nodiscard]] IEventRepository& store() const { return *connections.front(); }
  };

  void take(ClaimResult reference, ClaimResult subject);
  void settle_sides(std::size_t connection, const std::vector<Settlement>& reference,
                    const std::vector<Settlement>& subject);
  void check_days(const std::vector<DailyCount>& days);
  void check_books(const std::vector<Event>& rows, const Stats& stats);
  template <class Act>
  auto on_both(Act act) -> decltype(act(std::declval<Side&>()));

  std::string name_;
  bool has_archive_;
  Side reference_;
  Side subject_;
  std::vector<HeldToken> held_;
  std::uint64_t accepted_{0};
};

}  // namespace waybill::test
