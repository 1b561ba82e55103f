#include "waybill/url.hpp"

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/error.hpp"
#include "waybill/limits.hpp"

namespace waybill::test {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

std::string error_of(std::string_view text) {
  try {
    (void)Url::parse(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Only secrets have these letters.
bool leaks(std::string_view text) { return text.find_first_of("QZ") != std::string_view::npos; }

TEST_CASE("URLs without authority") {
  const Url url = Url::parse("sqlite:dir/a%20b.db?synchronous=full&x=%26%3D");
  CHECK(url.scheme == "sqlite");
  CHECK_FALSE(url.has_authority);
  CHECK(url.path == "dir/a b.db");
  CHECK(url.query == Query{{"synchronous", "full"}, {"x", "&="}});
  CHECK(Url::parse("memory:").path.empty());
  CHECK(Url::parse("sqlite:/var/a.db").path == "/var/a.db");
  CHECK(Url::parse("sqlite:bücher.db").path == "bücher.db");
}

TEST_CASE("URLs with authority") {
  const Url url = Url::parse("mysql://us%3Aer:p%40ss%3Aw:rd%2F@db.example.org:3306/shop?timeout=5s");
  CHECK(url.has_authority);
  CHECK(url.user == "us:er");
  CHECK(url.password == "p@ss:w:rd/");
  CHECK(url.host == "db.example.org");
  CHECK(url.port == 3306);
  CHECK(url.path == "/shop");
  CHECK(Url::parse("sqlite:///var/a.db").path == "/var/a.db");
  CHECK(Url::parse("sqlite:///var/a.db").host.empty());
  CHECK(Url::parse("mysql://u:@h").password == "");
  CHECK_FALSE(Url::parse("mysql://u@h").password.has_value());
  CHECK(Url::parse("zmq+pub://*:0").port == 0);
  CHECK(Url::parse("http://[::1]:80/").host == "::1");
  CHECK(Url::parse("http://h?a=b?c").query == Query{{"a", "b?c"}});
  CHECK(Url::parse("x:?flag").query == Query{{"flag", ""}});
  CHECK(Url::parse("x:?").query.empty());
}

TEST_CASE("wrong URLs are refused with the part that is wrong") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "no scheme"},
      {"events.db", "no scheme"},
      {":x", "no scheme"},
      {"SQLite:a", "bad scheme"},
      {"1x:a", "bad scheme"},
      {"sq lite:a", "bad scheme"},
      {"x:a\nb", "control character"},
      {"x:a\x7F", "control character"},
      {"x:a\xFF", "UTF-8"},
      {"x:a%FF", "UTF-8"},
      {"x:a%C3?k=%A9", "path are not valid UTF-8"},
      {"x:a%", "escape in the path"},
      {"x:a%2", "escape in the path"},
      {"x:a%zz", "escape in the path"},
      {"x:?k=%0g", "escape in the query"},
      {"x://u%:p@h", "escape in the user"},
      {"x://u:%p@h", "escape in the password"},
      {"x:a%00b", "%00 in the path"},
      {"x://h:65536", "bad port"},
      {"x://h:", "bad port"},
      {"x://h:1a", "bad port"},
      {"x://h:-1", "bad port"},
      {"x://h:000080", "bad port"},
      {"x://[::1", "]"},
      {"x://[::1]80", "behind the host"},
      {"x://[host]", "IPv6"},
      {"x://[]", "IPv6"},
      {"x://a b/", "character in the host"},
      {"x://a%20b/", "character in the host"},
      {"x://bücher/", "character in the host"},
      {"x://u:p@/a", "without a host"},
      {"x://:80", "without a host"},
      {"x://a@b@c", "more than one @"},
      {"x:?a=1&a=2", "'a' is given twice"},
      {"x:?a=1&%61=2", "given twice"},
      {"x:?a=1&&b=2", "empty option"},
      {"x:?a=1&", "empty option"},
      {"x:?=1", "empty option"},
      {"x:a#b", "fragment"},
      {"x:" + std::string(4095, 'a'), "limit is 4096"},
  };
  for (const auto& [text, part] : wrong) {
    CAPTURE(text, part);
    const std::string message = error_of(text);
    CHECK(contains(message, part));
    CHECK(contains(message, "bad URL"));
  }
  CHECK_NOTHROW(Url::parse("x:" + std::string(4094, 'a')));
}

TEST_CASE("a redacted URL has no password and no secret value") {
  CHECK(Url::parse("mysql://u:p@h:1/d?token=abc&timeout=5s").redacted() == "mysql://u:***@h:1/d?token=***&timeout=5s");
  CHECK(Url::parse("mysql://u:@h").redacted() == "mysql://u:***@h");
  CHECK(Url::parse("mysql://u@h/d").redacted() == "mysql://u@h/d");
  CHECK(Url::parse("x:?Api_Key=abc&p%61ssword=abc&secretary=abc").redacted() ==
        "x:?Api_Key=***&password=***&secretary=***");
  CHECK(Url::parse("x:?password_file=/run/pw").redacted() == "x:?password_file=/run/pw");
  CHECK(Url::parse("x:?synchronous=full").redacted() == "x:?synchronous=full");
}

TEST_CASE("a password in the wrong place of a URL is not shown either") {
  // A slash in the password: this reads as host, port and path.
  CHECK(Url::parse("mysql://user:1/QZ@host/db").redacted() == "mysql://***@host/db");
  CHECK(Url::parse("mysql://user:1?QZ@host/db").redacted() == "mysql://***@host/db");
  CHECK(Url::parse("mysql:user:QZ@host/db").redacted() == "mysql:***@host/db");
  CHECK(Url::parse("user:QZ@host").redacted() == "user:***@host");
}

TEST_CASE("a repeated key that may be a piece of a password is not named") {
  CHECK_FALSE(leaks(error_of("mysql://user:1?Q&Q&@host")));
  CHECK(contains(error_of("mysql://user@host?Q&Q"), "'Q' is given twice"));
}

TEST_CASE("text that is no URL is redacted") {
  CHECK(redact_url("mysql://u:p@ss/w@host:x/db") == "mysql://***@host:x/db");
  CHECK(redact_url("x:?token=a%zz&b=1") == "x:?token=***&b=1");
  CHECK(redact_url("x:?%zz=a") == "x:?%zz=***");
  CHECK(redact_url("plain text") == "plain text");
  CHECK(redact_url("a\nb\xFF") ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD");
  CHECK(redact_url(std::string(5000, 'a')).size() < 400);
}

/// Any URL that parse() can give, secrets included.
Url any_url() {
  Url url;
  url.scheme = *text_of("abcxyz", 1, 1) + *text_of("abc019+.-", 0, 6);
  url.has_authority = *rc::gen::arbitrary<bool>();
  if (url.has_authority) {
    url.host = *rc::gen::weightedOneOf<std::string>(
        {{4, text_of("abcXYZ019.-_*", 0, 12)}, {1, rc::gen::element<std::string>("::1", "2001:db8::7")}});
    if (!url.host.empty()) {
      url.user = *any_text(0, 6);
      if (*rc::gen::arbitrary<bool>()) url.password = *any_text(0, 8);
      if (*rc::gen::arbitrary<bool>()) url.port = *rc::gen::arbitrary<std::uint16_t>();
    }
    if (*rc::gen::arbitrary<bool>()) url.path = "/" + *any_text(0, 10);
  } else {
    url.path = *rc::gen::oneOf(any_text(0, 10),
                               rc::gen::map(any_text(0, 5), [](const std::string& text) { return "//" + text; }));
  }
  const int options = *rc::gen::inRange(0, 4);
  for (int option = 0; option < options; ++option)
    url.query.emplace_back(std::to_string(option) + *any_text(0, 4), *any_text(0, 6));
  return url;
}

TEST_CASE("URLs survive being written and read") {
  check_property(
      "parse(to_string(u)) == u",
      [] {
        const Url url = any_url();
        const std::string text = url.to_string();
        RC_LOG() << text << "\n";
        RC_ASSERT(Url::parse(text) == url);
      },
      10);
}

/// Bytes of all kinds, and texts that are nearly URLs.
std::string any_url_like() {
  std::string text = *rc::gen::oneOf(any_bytes(), text_of("a:/@?&=%#[]0215.*+-", 0, 25), any_text(0, 30),
                                     rc::gen::exec([] { return any_url().to_string(); }));
  const int changes = *rc::gen::inRange(0, 3);
  for (int change = 0; change < changes && !text.empty(); ++change) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::elementOf(std::string{":/@?&=%#[]\0 \n\xC3", 15});
  }
  return text;
}

TEST_CASE("any bytes are a URL or a clear error") {
  check_property(
      "parse throws nothing but ConfigError; what it takes survives; messages are valid text",
      [] {
        const std::string text = any_url_like();
        try {
          const Url url = Url::parse(text);
          RC_ASSERT(Url::parse(url.to_string()) == url);
          RC_ASSERT(utf8_length(url.redacted()).has_value());
          RC_CLASSIFY(true, "URL");
        } catch (const ConfigError& error) {
          RC_ASSERT(utf8_length(error.what()).has_value());
        }
      },
      30);
}

TEST_CASE("redaction never leaks a password or a secret value") {
  check_property(
      "a URL that parses",
      [] {
        Url url;
        url.scheme = "mysql";
        url.has_authority = true;
        url.user = *text_of("abc", 0, 3);
        url.password = *text_of("QZ@:/?#&=%[] \n", 0, 12);
        url.host = "host";
        url.path = *rc::gen::element<std::string>("", "/", "/db");
        url.query.emplace_back(*rc::gen::element<std::string>("password", "ssl_KEY", "x-token", "client_secret"),
                               *text_of("QZ@:/?#&=%[] \n", 0, 12));
        RC_ASSERT(!leaks(url.redacted()));
        RC_ASSERT(!leaks(redact_url(url.to_string())));
        RC_ASSERT(!leaks(Url::parse(url.to_string()).redacted()));
      },
      10);
  check_property(
      "a password written without escapes, whatever becomes of it",
      [] {
        const std::string password = *text_of("QZ1@:/?#&=%[] .", 0, 8);
        const std::string start = *rc::gen::element<std::string>("mysql://user:", "mysql://:", "mysql:user:", "user:");
        const std::string text = start + password + *rc::gen::element<std::string>("@host/db", "@host", "@host:1/?a=b");
        RC_LOG() << text << "\n";
        // `user://Q@host` is a URL with the user Q, and nothing says that it was meant otherwise.
        RC_PRE(start != "user:" || password.substr(0, 2) != "//");
        RC_ASSERT(!leaks(redact_url(text)));
        try {
          const Url url = Url::parse(text);
          RC_CLASSIFY(true, "parses");
          RC_ASSERT(!leaks(url.redacted()));
        } catch (const ConfigError& error) {
          RC_ASSERT(!leaks(error.what()));
        }
      },
      50);
}

}  // namespace
}  // namespace waybill::test
