#pragma once
// What the stores' `doctor` share.

#include "waybill/error.hpp"
#include "waybill/event_repository.hpp"

namespace waybill::backends {

/// The check's finding. One that can't even run is a finding too, not the end of the others.
template <class Check>
[[nodiscard]] Finding checked(const char* name, Check check) {
  try {
    return check();
  } catch (const StorageError& error) {
    return {Finding::Level::error, name, error.what(),
            "`waybill init --print-sql` shows the tables and indexes as they should be"};
  }
}

}  // namespace waybill::backends
