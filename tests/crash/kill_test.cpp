// Putters and relays killed at random moments: no accepted event is lost, the books balance, order holds, and an event
// is delivered again only where a kill or a lost lease explains it.

#include "crash/scenario.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

TEST_CASE("kills without order: nothing is lost, and the books balance") {
  Site site;
  run_turmoil("kills without order", {.order = "none", .rounds = 60}, site);
}

// A frozen relay that wakes up after its lease may write its last batch again, late: then an old event of an aggregate
// is seen behind newer ones. That is a repeat; the first delivery of each event is in order all the same.
TEST_CASE("kills with order by aggregate: first deliveries are in order, across relays, kills and lost leases") {
  Site site;
  run_turmoil("kills with order by aggregate",
              {.order = "aggregate", .rounds = 60, .shared_output = true, .freeze_percent = 25}, site);
}

TEST_CASE("without kills two relays deliver each event once") {
  const Site site;
  (void)deliver_each_once(site);
}

}  // namespace
}  // namespace waybill::test
