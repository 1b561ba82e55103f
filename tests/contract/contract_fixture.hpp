#pragma once
// What every test of the contract suite starts from: a fresh database of each kind of store in turn.

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/describe.hpp"
#include "contract/store_under_test.hpp"
#include "support/catch.hpp"
#include "support/store_calls.hpp"

namespace waybill::test {

using namespace std::chrono_literals;

/// An event of its own aggregate; tests change what they are about.
[[nodiscard]] NewEvent make_event(std::string event_no);
[[nodiscard]] NewEvent make_event(std::string event_no, std::string aggregate_id);

[[nodiscard]] ClaimRequest ordered_request(std::size_t limit = 100, DeadHead dead_head = DeadHead::block);

/// Use with TEST_CASE_METHOD: the test runs once per kind of store.
class Contract {
 protected:
  Contract() : Contract(store_kinds()) {}
  explicit Contract(const std::vector<StoreKind>& kinds);

  /// A fresh database instead of the first one.
  void restart(const StoreSettings& settings);
  /// Closes the repository and opens the database anew.
  void reopen();
  [[nodiscard]] bool has_archive() const { return kind_->has_archive; }
  [[nodiscard]] ManualClock& clock() { return database->clock(); }
  [[nodiscard]] Timestamp now() { return database->clock().now(); }

  AppendResult append(const NewEvent& event);
  void append(std::initializer_list<const char*> event_nos);
  /// Appends events `first`..`last` as PREFIXn in one batch.
  void append_many(std::string_view prefix, int first, int last, std::optional<Timestamp> due = std::nullopt);
  std::vector<Event> claim(std::size_t limit = 100, std::string owner = "relay-a");
  /// Claims all there is, which must be this event.
  Event claim_one(const std::string& event_no);

  SettleStatus settle(const Settlement& settlement);
  SettleStatus succeed(const Event& claimed);
  SettleStatus fail(const Event& claimed, std::optional<Timestamp> next, std::string reason = "refused");
  SettleStatus reject(const Event& claimed, std::string reason = "refused for good");
  SettleStatus release(const Event& claimed, std::optional<Timestamp> due = std::nullopt);

  /// Where the store keeps only the meaning of JSON: in one normal form, for comparisons.
  [[nodiscard]] Event as_kept(Event event) const {
    return kind_->keeps_bytes ? event : with_normal_json(std::move(event));
  }
  /// The event as stored; the test fails when it is not there.
  Event get(std::string_view event_no);
  Status status_of(std::string_view event_no) { return get(event_no).publish_status; }
  /// Appends an event and takes it to a state (failed: retry in an hour). No other event may be claimable meanwhile.
  Event add_in(Status status, const std::string& event_no);
  Event add_in(Status status, const NewEvent& event);
  Event add_dead(const std::string& event_no);

  std::unique_ptr<TestDatabase> database;
  std::unique_ptr<IEventRepository> store;

 private:
  const StoreKind* kind_;
  Catch::ScopedMessage name_;  ///< says in each failure which store it was
};

/// For tests of the archive.
class Archiving : public Contract {
 protected:
  Archiving() : Contract(archiving_kinds()) {}
};

}  // namespace waybill::test
