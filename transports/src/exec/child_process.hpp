#pragma once
// One run of a program: input in, output and status out, within a time.

#include <string>
#include <vector>

#include "waybill/time.hpp"

namespace waybill::transports {

struct RunResult {
  int start_error{0};     ///< errno when it could not be started; the rest is then empty
  bool timed_out{false};  ///< it was killed, its process group with it
  int exit_status{-1};    ///< -1: ended by a signal
  int signal{0};
  std::string output_end;  ///< the end of standard output and error, together
};

/// `command[0]` is looked up on PATH; `variables` (NAME=VALUE) are added to this process's environment. Thread-safe.
[[nodiscard]] RunResult run_program(const std::vector<std::string>& command, const std::vector<std::string>& variables,
                                    const std::string& input, Duration limit);

}  // namespace waybill::transports
