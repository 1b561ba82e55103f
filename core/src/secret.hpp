#pragma once
// Which URL options hold secrets.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace waybill {

/// True when the value of such a key must not be shown. A key that names a file (`password_file`) is no secret.
[[nodiscard]] inline bool is_secret_key(std::string_view key) {
  constexpr std::array<std::string_view, 6> kWords{"password", "passwd", "pwd", "token", "secret", "key"};
  std::string lower{key};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower.size() >= 5 && lower.compare(lower.size() - 5, 5, "_file") == 0) return false;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace waybill
