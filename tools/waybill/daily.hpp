#pragma once
// The daily counts, for people and for programs.

#include <vector>

#include "session.hpp"
#include "waybill/daily_stats.hpp"

namespace waybill::cli {

/// A row a day and type, or with --json an object a day, type and status. In the order of daily_stats().
void print_days(const std::vector<DailyCount>& lines, const Session& session);

}  // namespace waybill::cli
