#pragma once
// What is done to every kind of store.

#include <map>
#include <string>

#include "crash/turmoil.hpp"

namespace waybill::test {

/// Faults, peace, audit. `name` goes with the seed that is printed.
void run_turmoil(const std::string& name, const TurmoilPlan& plan, Site& site, MortalServer server = {});

/// Checks that two relays deliver events that are put meanwhile, each once; returns how many each of them delivered.
[[nodiscard]] std::map<std::string, std::size_t> deliver_each_once(const Site& site);

}  // namespace waybill::test
