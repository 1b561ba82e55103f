#pragma once
// Properties (rapidcheck) as Catch2 assertions.

#include <rapidcheck.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "support/catch.hpp"

namespace waybill::test {

/// Checks the property with 100 random inputs times `factor`, of which `percent` are left where each one is slow. A
/// failure names the smallest input that was found and the RC_PARAMS (rapidcheck's environment variable) that repeat
/// the run: `RC_PARAMS="seed=7" waybill_core_tests "…"`. More inputs: RC_PARAMS="max_success=10000".
template <class Testable>
void check_property(const std::string& name, Testable&& testable, int factor = 1, int percent = 100) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::max(1, params.maxSuccess * factor * percent / 100);
  rc::detail::TestMetadata metadata;
  metadata.id = name;
  metadata.description = name;
  const rc::detail::TestResult result = rc::detail::checkTestable(std::forward<Testable>(testable), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) {
    SUCCEED(name);
    return;
  }
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  FAIL("property: " << name << "\n" << message.str() << "\nrepeat with RC_PARAMS=\"seed=" << params.seed << "\"");
}

}  // namespace waybill::test
