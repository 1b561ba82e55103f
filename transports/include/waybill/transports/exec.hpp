#pragma once
// Delivery to a program of this machine: one run an event.

#include <memory>
#include <string>
#include <vector>

#include "waybill/transport.hpp"
#include "waybill/transports/stdout.hpp"

namespace waybill {

struct ExecOptions {
  std::vector<std::string> command;               ///< program (found on PATH) and arguments; no shell
  Duration time_limit{std::chrono::seconds{30}};  ///< of one run; then it and its children are killed
  bool reject_others{false};                   ///< an exit status beside 0 and 75 is final; else it counts an attempt
  LineFormat format{LineFormat::cloudevents};  ///< of the line on its standard input
};

/// Exit status 0: delivered. 75 (EX_TEMPFAIL of sysexits.h), a signal or the time limit: tried again. Others as the
/// options say. The end of what the program wrote becomes the reason. A program that can't be started makes the
/// destination unavailable and costs no attempt.
///
/// The environment has WAYBILL_EVENT_NO, WAYBILL_EVENT_TYPE, WAYBILL_AGGREGATE_TYPE, WAYBILL_AGGREGATE_ID and
/// WAYBILL_ATTEMPT (from 1). Events of a batch run one after the other; several workers run several at once.
/// Throws ConfigError for an empty command.
[[nodiscard]] std::unique_ptr<ITransport> make_exec_transport(ExecOptions options);

}  // namespace waybill
