#pragma once
// Scheme -> factory, as a plain value built in `main`. Nothing registers itself.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "waybill/error.hpp"
#include "waybill/options.hpp"
#include "waybill/table_model.hpp"
#include "waybill/telemetry.hpp"
#include "waybill/time.hpp"
#include "waybill/url.hpp"

namespace waybill {

enum class OpenMode {
  read_write,  ///< tables must be there and current
  read_only,   ///< questions only; works on a file one may not write
  create,      ///< `init`: creates or migrates the tables
};

/// What a factory gets beside the URL.
struct OpenContext {
  OpenMode mode{OpenMode::read_write};
  std::shared_ptr<const IClock> clock;  ///< empty: the store's own
  LogSink log;                          ///< may be empty
  std::optional<TableModel> table{};    ///< of a store: a table of the user's that its configuration describes
};

/// Copyable, thread-compatible. Add a scheme of your own with one `add()`.
template <class Interface>
class FactoryRegistry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Url&, const OpenContext&)>;
  struct Entry {
    Factory open;
    std::string usage;                      ///< `sqlite:PATH`
    std::string help;                       ///< one line
    std::span<const OptionSpec> options{};  ///< with static lifetime
  };

  /// `kind` names the things in messages: "store", "transport".
  explicit FactoryRegistry(std::string kind) : kind_(std::move(kind)) {}

  /// Throws ConfigError when the scheme is taken.
  void add(const std::string& scheme, Entry entry) {
    if (!entries_.emplace(scheme, std::move(entry)).second)
      throw ConfigError(kind_ + " scheme '" + scheme + "' is registered twice");
  }

  [[nodiscard]] bool knows(std::string_view scheme) const { return entries_.find(scheme) != entries_.end(); }
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  /// Throws ConfigError for a bad URL or an unknown scheme (listing those of this build), and what the factory throws.
  [[nodiscard]] std::unique_ptr<Interface> open(std::string_view text, const OpenContext& context = {}) const {
    const Url url = Url::parse(text);
    const auto found = entries_.find(url.scheme);
    if (found == entries_.end())
      throw ConfigError("unknown " + kind_ + " scheme '" + url.scheme + "' in '" + url.redacted() +
                        "'; this build knows: " + schemes());
    return found->second.open(url, context);
  }

  [[nodiscard]] std::string schemes() const {
    std::string list;
    for (const auto& [scheme, entry] : entries_) list += (list.empty() ? "" : ", ") + scheme;
    return list;
  }

 private:
  std::string kind_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace waybill
