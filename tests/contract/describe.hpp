#pragma once
// How events look in the messages of this suite: one line, every column.

#include <ostream>
#include <string>

#include "waybill/event.hpp"

namespace waybill {

/// In the namespace of Event, where Catch2 and rapidcheck find it.
std::ostream& operator<<(std::ostream& out, const Event& event);

namespace test {
[[nodiscard]] std::string describe(const Event& event);
/// With payload and headers as nlohmann writes them: events whose JSON is equal then have equal text.
[[nodiscard]] Event with_normal_json(Event event);
}  // namespace test

}  // namespace waybill
