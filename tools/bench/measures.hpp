#pragma once
// Each measure adds its lines to the report. Those below the line need SQLite.

#include "context.hpp"

namespace waybill::bench {

void measure_append_1(Context& context);
void measure_append_100(Context& context);
void measure_claim_settle(Context& context);
void measure_cycle_100(Context& context);
void measure_cycle_1000(Context& context);
void measure_bytes(Context& context);
void measure_group_commit(Context& context);

// Those of the MySQL store:
void measure_mysql_relays(Context& context);
void measure_mysql_claim(Context& context);
void measure_mysql_ordered(Context& context);
void measure_mysql_deadlocks(Context& context);

// Those of the SQLite store:
void measure_history(Context& context);
void measure_claim(Context& context);
void measure_ordered(Context& context);
void measure_wakeup(Context& context);
void measure_contention(Context& context);
void measure_relay(Context& context);

}  // namespace waybill::bench
