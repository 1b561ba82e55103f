#pragma once
// Where numbers and log lines of the engine go.

#include <cstdint>
#include <functional>
#include <string_view>

#include "waybill/time.hpp"

namespace waybill {

/// Names are Prometheus names without the `waybill_` prefix; `label` is a route, or empty.
/// Implementations are thread-safe and never throw.
class ITelemetry {
 public:
  virtual ~ITelemetry() = default;
  virtual void count(std::string_view name, std::string_view label, std::uint64_t by) noexcept = 0;
  virtual void gauge(std::string_view name, std::string_view label, double value) noexcept = 0;
  virtual void observe(std::string_view name, std::string_view label, Duration value) noexcept = 0;
};

/// Forgets everything: the default.
class NoTelemetry final : public ITelemetry {
 public:
  void count(std::string_view, std::string_view, std::uint64_t) noexcept override {}
  void gauge(std::string_view, std::string_view, double) noexcept override {}
  void observe(std::string_view, std::string_view, Duration) noexcept override {}
};

enum class LogLevel { info, warning, error };
/// Takes one line without a line feed. Must be thread-safe; may be empty.
using LogSink = std::function<void(LogLevel, std::string_view)>;

}  // namespace waybill
