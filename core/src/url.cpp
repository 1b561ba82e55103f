#include "waybill/url.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "secret.hpp"
#include "utf8.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kMaxShown = 300;  ///< characters of a URL in a message
constexpr std::string_view kHidden = "***";

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8::character_at(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

/// nullopt for a bad escape.
std::optional<std::string> decode(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    const int high = hex_value(text[at + 1]);
    const int low = hex_value(text[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return plain;
}

/// Escapes only what parse() would read otherwise, so that text never grows over the limit by being printed.
std::string encode(std::string_view text, std::string_view special) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (!is_control(c) && c != '%' && c != '#' && special.find(c) == std::string_view::npos) {
      escaped += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    escaped += '%';
    escaped += kHex[byte >> 4U];
    escaped += kHex[byte & 15U];
  }
  return escaped;
}

/// Cuts `text` at the first of `marks`; returns what was in front, leaves the mark and the rest in `text`.
std::string_view take_until(std::string_view& text, std::string_view marks) {
  const std::size_t end = std::min(text.find_first_of(marks), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(end);
  return front;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), left_(text) {}

  Url parse() {
    check_bytes();
    read_scheme();
    if (left_.substr(0, 2) == "//") {
      left_.remove_prefix(2);
      url_.has_authority = true;
      read_authority(take_until(left_, "/?"));
    }
    url_.path = decoded("path", take_until(left_, "?"));
    if (!left_.empty()) read_query(left_.substr(1));
    return std::move(url_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ConfigError("bad URL '" + redact_url(text_) + "': " + what);
  }

  void check_bytes() const {
    if (text_.size() > kMaxBytes)
      fail("it is " + std::to_string(text_.size()) + " bytes long, the limit is " + std::to_string(kMaxBytes));
    if (!is_utf8(text_)) fail("it is not valid UTF-8");
    if (std::any_of(text_.begin(), text_.end(), is_control)) fail("it holds a control character");
    if (text_.find('#') != std::string_view::npos) fail("a fragment (#...) has no meaning here; write # as %23");
  }

  [[nodiscard]] std::string decoded(const std::string& part, std::string_view text) const {
    const std::optional<std::string> plain = decode(text);
    if (!plain.has_value()) fail("bad escape in the " + part + "; after % come two hexadecimal digits, write % as %25");
    if (plain->find('\0') != std::string::npos) fail("%00 in the " + part + " is not allowed");
    if (!is_utf8(*plain)) fail("the escapes in the " + part + " are not valid UTF-8");
    return *plain;
  }

  void read_scheme() {
    const std::size_t colon = left_.find(':');
    if (colon == std::string_view::npos || colon == 0)
      fail("no scheme; write SCHEME:REST, for example sqlite:events.db");
    const std::string_view scheme = left_.substr(0, colon);
    const auto allowed = [](char c) { return is_lower(c) || is_digit(c) || c == '+' || c == '.' || c == '-'; };
    if (!is_lower(scheme.front()) || !std::all_of(scheme.begin(), scheme.end(), allowed))
      fail("bad scheme; it starts with a lower-case letter, then lower-case letters, digits, + . -");
    url_.scheme = scheme;
    left_.remove_prefix(colon + 1);
  }

  void read_authority(std::string_view authority) {
    const std::size_t at = authority.find('@');
    if (at != std::string_view::npos) {
      if (authority.find('@', at + 1) != std::string_view::npos)
        fail("more than one @ before the host; write @ in user or password as %40");
      read_user(authority.substr(0, at));
      authority.remove_prefix(at + 1);
    }
    read_host(authority);
    if (url_.host.empty() && (at != std::string_view::npos || url_.port.has_value()))
      fail("user or port without a host");
  }

  void read_user(std::string_view text) {
    const std::size_t colon = text.find(':');
    url_.user = decoded("user", text.substr(0, colon));
    if (colon != std::string_view::npos) url_.password = decoded("password", text.substr(colon + 1));
  }

  void read_host(std::string_view text) {
    if (!text.empty() && text.front() == '[') {
      const std::size_t end = text.find(']');
      if (end == std::string_view::npos) fail("no ] after the IPv6 address in the host");
      url_.host = text.substr(1, end - 1);
      in6_addr address{};
      if (inet_pton(AF_INET6, url_.host.c_str(), &address) != 1) fail("the host in [ ] is not an IPv6 address");
      text.remove_prefix(end + 1);
      if (!text.empty() && text.front() != ':') fail("something else than :PORT behind the host");
    } else {
      url_.host = take_until(text, ":");
      const auto allowed = [](char c) {
        return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '-' || c == '_' || c == '*';
      };
      if (!std::all_of(url_.host.begin(), url_.host.end(), allowed))
        fail("bad character in the host; write the password's @ : / ? as %40 %3A %2F %3F, and IPv6 in [ ]");
    }
    if (!text.empty()) read_port(text.substr(1));
  }

  void read_port(std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || text.size() > 5 || error != std::errc{} || end != text.data() + text.size() || value > 65535)
      fail("bad port; write 1 to 65535, or 0 for any (and / ? in a password as %2F %3F)");
    url_.port = static_cast<std::uint16_t>(value);
  }

  void read_query(std::string_view text) {
    while (!text.empty()) {
      std::string_view value = take_until(text, "&");
      if (!text.empty()) {
        text.remove_prefix(1);
        if (text.empty()) fail("empty option in the query after &");
      }
      const std::string key = decoded("query", take_until(value, "="));
      if (key.empty()) fail("empty option in the query; write KEY=VALUE&KEY=VALUE");
      const auto same = [&](const auto& entry) { return entry.first == key; };
      if (std::any_of(url_.query.begin(), url_.query.end(), same)) fail("option" + shown_key(key) + " is given twice");
      if (!value.empty()) value.remove_prefix(1);
      url_.query.emplace_back(key, decoded("query", value));
    }
  }

  /// The key for a message, unless it may be a piece of a password: `db://u:1?KEY@host`.
  [[nodiscard]] std::string shown_key(const std::string& key) const {
    return redact_url(text_).find(key) == std::string::npos ? "" : " '" + utf8::for_message(key) + "'";
  }

  std::string_view text_;
  std::string_view left_;
  Url url_;
};

std::string host_text(const Url& url) {
  std::string text = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  if (url.port.has_value()) text += ":" + std::to_string(*url.port);
  return text;
}

std::string path_text(const Url& url) {
  // A path of its own must not look like an authority.
  if (!url.has_authority && url.path.substr(0, 2) == "//") return "%2F" + encode(url.path.substr(1), "?");
  return encode(url.path, "?");
}

std::string print(const Url& url, bool with_secrets) {
  const auto secret = [&](std::string_view value, std::string_view special) {
    return with_secrets ? encode(value, special) : std::string{kHidden};
  };
  std::string text = url.scheme + ":";
  if (url.has_authority) {
    text += "//" + encode(url.user, ":@/?");
    if (url.password.has_value()) text += ":" + secret(*url.password, "@/?");
    if (!url.user.empty() || url.password.has_value()) text += "@";
    text += host_text(url);
  }
  text += path_text(url);
  char mark = '?';
  for (const auto& [key, value] : url.query) {
    text += mark + encode(key, "&=");
    if (!value.empty()) text += "=" + (is_secret_key(key) ? secret(value, "&") : encode(value, "&"));
    mark = '&';
  }
  return text;
}

/// True when the URL may be a mistyped one in which a password ended up elsewhere: `db:u:p@host`, `db://u:12/3@host` or
/// `db://u:p@x/y@host`. Hiding too much is the smaller harm.
bool may_hide_a_password(const Url& url) {
  if (url.has_authority && !url.port.has_value() && !url.password.has_value()) return false;
  const auto has_at = [](const std::string& text) { return text.find('@') != std::string::npos; };
  return has_at(url.path) || std::any_of(url.query.begin(), url.query.end(), [&](const auto& entry) {
           return has_at(entry.first) || has_at(entry.second);
         });
}

using Mask = std::vector<bool>;

void hide(Mask& hidden, std::size_t from, std::size_t to) {
  std::fill(hidden.begin() + static_cast<std::ptrdiff_t>(from), hidden.begin() + static_cast<std::ptrdiff_t>(to), true);
}

/// Everything from behind the scheme to the last @: in a text that does not parse, nobody knows where a password ends.
void hide_authority(std::string_view text, Mask& hidden) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return;
  const std::size_t colon = text.find(':');
  std::size_t start = colon < at ? colon + 1 : 0;
  while (start < at && text[start] == '/') ++start;
  hide(hidden, start, at);
}

/// A key may start behind any ? or &, a value ends at & only: either may stand unescaped where it should not.
void hide_secret_values(std::string_view text, Mask& hidden) {
  constexpr std::string_view kMarks = "?&";
  for (std::size_t mark = text.find_first_of(kMarks); mark < text.size(); mark = text.find_first_of(kMarks, mark + 1)) {
    const std::size_t key_end = text.find_first_of("=?&", mark + 1);
    if (key_end >= text.size() || text[key_end] != '=') continue;
    if (is_secret_key(decode(text.substr(mark + 1, key_end - mark - 1)).value_or("secret")))
      hide(hidden, key_end + 1, std::min(text.find('&', key_end), text.size()));
  }
}

}  // namespace

Url Url::parse(std::string_view text) { return Parser{text}.parse(); }

std::string Url::to_string() const { return print(*this, true); }

std::string Url::redacted() const { return may_hide_a_password(*this) ? redact_url(to_string()) : print(*this, false); }

std::string redact_url(std::string_view text) {
  Mask hidden(text.size(), false);
  hide_authority(text, hidden);
  hide_secret_values(text, hidden);
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!hidden[at])
      shown += text[at];
    else if (at == 0 || !hidden[at - 1])
      shown += kHidden;
  }
  return utf8::for_message(shown, kMaxShown);
}

}  // namespace waybill
