#pragma once
// What every verb works with: the common options, the registries, logging, the way to open the store.

#include <memory>
#include <optional>
#include <string>

#include "waybill/backends/builtin.hpp"
#include "waybill/transports/builtin.hpp"

namespace CLI {
class App;
}

namespace waybill::cli {

struct CommonOptions {
  std::string store;
  std::string config;
  std::string log_level{"info"};
  bool quiet{false};
  bool json{false};
  std::optional<TableModel> table{};  ///< the configuration file's [table]
};

/// One run of the command. Thread-confined, but for log() and open(), which are thread-safe.
class Session {
 public:
  Session();

  /// --store, --config, --json, --quiet, --log-level.
  void add_common_options(CLI::App& app);
  /// Throws ConfigError when no store was named, and what the store's factory throws.
  [[nodiscard]] std::unique_ptr<IEventRepository> open(OpenMode mode) const;
  /// The same for a URL that was changed on the way.
  [[nodiscard]] std::unique_ptr<IEventRepository> open(const Url& url, OpenMode mode) const;
  [[nodiscard]] Url store_url() const;
  /// For messages: without password.
  [[nodiscard]] std::string store_name() const;
  /// To standard error through spdlog, from the level asked for.
  [[nodiscard]] LogSink log() const;
  /// A line for people on standard error; not with --quiet.
  void tell(const std::string& line) const;

  CommonOptions common;
  BackendRegistry stores{"store"};
  TransportRegistry transports{"transport"};
};

}  // namespace waybill::cli
