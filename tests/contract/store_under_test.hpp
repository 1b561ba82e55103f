#pragma once
// The stores that the contract suite runs over. A new store adds itself to store_kinds() and nothing else.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/manual_clock.hpp"
#include "waybill/event_repository.hpp"
#include "waybill/limits.hpp"

namespace waybill::test {

struct StoreSettings {
  std::size_t max_events{0};
  bool drop_oldest{false};
  Limits limits{};
};

/// A fresh database with a clock of its own; gone with the object.
class TestDatabase {
 public:
  virtual ~TestDatabase() = default;
  /// Another connection. Close all and open one to see what the database itself remembers.
  [[nodiscard]] virtual std::unique_ptr<IEventRepository> open() = 0;
  [[nodiscard]] ManualClock& clock() { return *clock_; }

 protected:
  [[nodiscard]] std::shared_ptr<const IClock> shared_clock() const { return clock_; }

 private:
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<TestDatabase>(const StoreSettings&)> make;
  bool has_archive{true};     ///< a user's own table has none
  bool can_be_bounded{true};  ///< takes max_events: a device's buffer
  bool keeps_bytes{true};     ///< of JSON; MySQL's type keeps its meaning
  int share_percent{100};     ///< of a property's random inputs: a server takes a hundred times as long for each
};

/// Those of this build; memory, the reference, is the first.
[[nodiscard]] const std::vector<StoreKind>& store_kinds();
/// Those that have an archive table.
[[nodiscard]] const std::vector<StoreKind>& archiving_kinds();
/// Those that take max_events.
[[nodiscard]] const std::vector<StoreKind>& bounded_kinds();

}  // namespace waybill::test
