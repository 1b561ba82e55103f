#pragma once
// The options that choose events, shared by list, retry and cancel.

#include <optional>
#include <string>
#include <vector>

#include "waybill/event_repository.hpp"

namespace CLI {
class App;
}

namespace waybill::cli {

struct FilterOptions {
  std::vector<std::string> statuses;
  std::string event_no;
  std::string topic;
  std::string type;
  std::string channel;
  std::string aggregate;
  std::string trace;
  std::string since;
  std::string until;
  Duration older_than{0};
  std::size_t min_retries{0};

  /// True when any of them was given.
  [[nodiscard]] bool any() const;
  /// Throws ConfigError for statuses that can't be asked for together.
  [[nodiscard]] EventFilter filter(Timestamp now) const;
};

void add_filter_options(CLI::App& app, FilterOptions& options);

}  // namespace waybill::cli
