#pragma once
// An event as one line of JSON, in the format a URL asks for.

#include <string>
#include <string_view>

#include "waybill/event.hpp"
#include "waybill/options.hpp"
#include "waybill/transports/stdout.hpp"

namespace waybill::transports {

inline constexpr OptionSpec kFormatOption{
    "format", OptionType::choice, "cloudevents",
    "cloudevents: CloudEvents 1.0 JSON; event: all columns; payload: the payload alone", "cloudevents|event|payload"};

/// One of the choices above.
[[nodiscard]] LineFormat line_format(std::string_view name);
/// Without a line feed. Throws InvalidEvent when the event can't be a line of JSON.
[[nodiscard]] std::string encode_line(const Event& event, LineFormat format);

}  // namespace waybill::transports
