// Random work: every store gives the answers of the in-memory one, and the books balance after each command.

#include "contract/random_commands.hpp"
#include "support/property.hpp"

namespace waybill::test {
namespace {

/// A store's kind by its place in store_kinds(). Memory beside itself still has its books checked.
void check_kind(const StoreKind& kind, const StoreSettings& settings, int factor) {
  check_property(
      kind.name + " answers as memory does",
      [&] {
        Twins twins(kind, settings);
        rc::state::check(NoModel{}, twins, random_command);
        twins.compare_finds();
        twins.rollup(0, 100);
      },
      factor, kind.share_percent);
}

TEST_CASE("random commands get the same answers from every store", "[differential]") {
  for (const StoreKind& kind : store_kinds()) check_kind(kind, {}, 2);
}

TEST_CASE("random commands on a bounded buffer get the same answers from every store", "[differential][buffer]") {
  StoreSettings settings;
  settings.max_events = 8;
  settings.drop_oldest = GENERATE(false, true);
  for (const StoreKind& kind : bounded_kinds()) check_kind(kind, settings, 1);
}

}  // namespace
}  // namespace waybill::test
