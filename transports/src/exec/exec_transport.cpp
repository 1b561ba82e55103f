#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

#include "common/event_line.hpp"
#include "exec/child_process.hpp"
#include "waybill/transports/exec.hpp"

namespace waybill {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kTryAgain = 75;  // EX_TEMPFAIL

/// What a program said, on one line.
std::string said(const std::string& output) {
  std::string text = output;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return ": " + text.substr(first, text.find_last_not_of(' ') - first + 1);
}

class ExecTransport final : public ITransport {
 public:
  explicit ExecTransport(ExecOptions options) : options_(std::move(options)) {
    if (options_.command.empty()) throw ConfigError("exec: names no program; write exec:PROGRAM or exec:PROGRAM ARG");
  }

  [[nodiscard]] std::vector<Outcome> deliver(std::span<const Event> events, Duration budget) override {
    const auto deadline = SteadyClock::now() + budget;
    std::vector<Outcome> outcomes;
    StoppedAggregates stopped;
    for (const Event& event : events) {
      if (stopped.contains(event)) {
        outcomes.push_back(Outcome::not_attempted("an earlier event of its aggregate was not delivered"));
        continue;
      }
      outcomes.push_back(run(event, std::chrono::duration_cast<Duration>(deadline - SteadyClock::now())));
      if (outcomes.back().kind != Outcome::Kind::delivered) stopped.stop(event);
    }
    return outcomes;
  }

 private:
  [[nodiscard]] Outcome run(const Event& event, Duration left) const {
    // A run that is cut short by the batch's time would cost an attempt for nothing.
    if (left < std::min<Duration>(options_.time_limit, std::chrono::seconds{1}))
      return Outcome::not_attempted("the batch's time is up");
    try {
      const std::string input = transports::encode_line(event, options_.format) + '\n';
      return judge(
          transports::run_program(options_.command, variables_of(event), input, std::min(options_.time_limit, left)));
    } catch (const InvalidEvent& error) {
      return Outcome::rejected(error.what());
    }
  }

  [[nodiscard]] static std::vector<std::string> variables_of(const Event& event) {
    return {"WAYBILL_EVENT_NO=" + event.event_no, "WAYBILL_EVENT_TYPE=" + event.event_type,
            "WAYBILL_AGGREGATE_TYPE=" + event.aggregate_type, "WAYBILL_AGGREGATE_ID=" + event.aggregate_id,
            "WAYBILL_ATTEMPT=" + std::to_string(std::int64_t{event.retry_count} + 1)};
  }

  [[nodiscard]] Outcome judge(const transports::RunResult& result) const {
    const std::string& program = options_.command.front();
    if (result.start_error != 0)
      return Outcome::unavailable("can't start '" + program +
                                  "': " + std::generic_category().message(result.start_error));
    if (result.timed_out)
      return Outcome::retry(program + " took longer than " + format_duration(options_.time_limit) + " and was killed" +
                            said(result.output_end));
    if (result.signal != 0)
      return Outcome::retry(program + " was ended by signal " + std::to_string(result.signal) +
                            said(result.output_end));
    if (result.exit_status == 0) return Outcome::delivered();
    std::string reason = program + " ended with status " + std::to_string(result.exit_status) + said(result.output_end);
    if (options_.reject_others && result.exit_status != kTryAgain) return Outcome::rejected(std::move(reason));
    return Outcome::retry(std::move(reason));
  }

  ExecOptions options_;
};

}  // namespace

std::unique_ptr<ITransport> make_exec_transport(ExecOptions options) {
  return std::make_unique<ExecTransport>(std::move(options));
}

}  // namespace waybill
