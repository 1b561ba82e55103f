#pragma once
// Random work for stores, as commands of rapidcheck's state machine.

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <memory>

#include "contract/twins.hpp"

namespace waybill::test {

/// The reference store is the model; there is nothing to keep beside it.
struct NoModel {};

using RandomCommand = rc::state::Command<NoModel, Twins>;
[[nodiscard]] rc::Gen<std::shared_ptr<const RandomCommand>> random_command(const NoModel&);

}  // namespace waybill::test
