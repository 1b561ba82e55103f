#pragma once
// Strict URLs for stores and transports: `scheme:`, `scheme:path?k=v`,
// `scheme://[user[:password]@]host[:port]/path?k=v`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace waybill {

/// A parsed URL. Scheme is lower case ([a-z][a-z0-9+.-]*); user, password, path and query are percent-decoded.
/// Refused (ConfigError with the position's part named): no scheme, upper-case scheme, control characters, bytes that
/// are not UTF-8, bad percent escapes, %00, a port outside 1..65535 (0 is allowed: "any"), a key given twice, a
/// fragment, more than 4096 bytes.
struct Url {
  std::string scheme;
  bool has_authority{false};  ///< `//` was there
  std::string user;
  std::optional<std::string> password;
  std::string host;  ///< IPv6 without brackets
  std::optional<std::uint16_t> port;
  std::string path;  ///< `sqlite:a.db` -> `a.db`; `sqlite:///var/a.db` -> `/var/a.db`
  std::vector<std::pair<std::string, std::string>> query;  ///< in order; keys unique

  [[nodiscard]] static Url parse(std::string_view text);
  /// As text, without the password and the values of secret-looking keys (password, token, secret, key).
  [[nodiscard]] std::string redacted() const;
  [[nodiscard]] std::string to_string() const;

  bool operator==(const Url&) const = default;
};

/// For messages about text that may not even parse: everything between `://` and `@` and secret values become `***`.
[[nodiscard]] std::string redact_url(std::string_view text);

}  // namespace waybill
