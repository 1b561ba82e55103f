#include "waybill/routing.hpp"

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/error.hpp"

namespace waybill::test {
namespace {

/// The same question, slow and plain: characters instead of bytes, recursion instead of backtracking.
bool reference_match(const std::u32string& pattern, const std::u32string& text, std::size_t p = 0, std::size_t t = 0) {
  if (p == pattern.size()) return t == text.size();
  if (pattern[p] == U'*')
    return reference_match(pattern, text, p + 1, t) || (t < text.size() && reference_match(pattern, text, p, t + 1));
  if (t == text.size()) return false;
  return (pattern[p] == U'?' || pattern[p] == text[t]) && reference_match(pattern, text, p + 1, t + 1);
}

std::string utf8(const std::u32string& codes) {
  std::string text;
  for (const char32_t code : codes) append_utf8(text, code);
  return text;
}

rc::Gen<std::u32string> letters(const std::u32string& alphabet, std::size_t max) {
  const std::vector<char32_t> list{alphabet.begin(), alphabet.end()};
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, max + 1), [list](std::size_t length) {
    return rc::gen::map(rc::gen::container<std::vector<char32_t>>(length, rc::gen::elementOf(list)),
                        [](const std::vector<char32_t>& codes) {
                          return std::u32string{codes.begin(), codes.end()};
                        });
  });
}

TEST_CASE("globs know * and ? and nothing else") {
  CHECK(glob_match("order.*", "order.created"));
  CHECK(glob_match("order.*", "order."));
  CHECK_FALSE(glob_match("order.*", "order"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("**", ""));
  CHECK_FALSE(glob_match("?", ""));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_match("a?c", "abc"));
  CHECK(glob_match("?", "é"));
  CHECK(glob_match("?", "😀"));
  CHECK_FALSE(glob_match("??", "é"));
  CHECK(glob_match("[ab]", "[ab]"));
  CHECK_FALSE(glob_match("[ab]", "a"));
  CHECK(glob_match("*a*b*", "xxaxxbxx"));
  CHECK_FALSE(glob_match("ORDER", "order"));
}

TEST_CASE("a glob of many stars is fast") {
  const std::string text(5000, 'a');
  CHECK_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*b", text));
}

TEST_CASE("globs agree with a plain matcher") {
  check_property(
      "glob_match == reference_match",
      [] {
        const std::u32string pattern = *letters(U"aé.*?", 8);
        const std::u32string text = *letters(U"aé.x", 10);
        const bool expected = reference_match(pattern, text);
        RC_CLASSIFY(expected, "match");
        RC_ASSERT(glob_match(utf8(pattern), utf8(text)) == expected);
      },
      20);
  check_property("any bytes may be asked", [] {
    (void)glob_match(*any_bytes(), *any_bytes());
    RC_ASSERT(glob_match("*", *any_bytes()));
  });
}

TEST_CASE("a pattern is a topic, or channel and topic") {
  CHECK(RoutePattern::parse("order.*") == RoutePattern{"*", "order.*"});
  CHECK(RoutePattern::parse("MQ:*") == RoutePattern{"MQ", "*"});
  CHECK(RoutePattern::parse("MQ:a:b") == RoutePattern{"MQ", "a:b"});
  for (const char* text : {"", ":", "MQ:", ":order"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(RoutePattern::parse(text), ConfigError);
  }
}

TEST_CASE("a pattern survives being written and read") {
  check_property("parse(to_string(p)) == p", [] {
    const std::string channel =
        *rc::gen::suchThat(any_text(1, 8), [](const std::string& text) { return text.find(':') == std::string::npos; });
    const RoutePattern pattern{*rc::gen::element<std::string>("*", channel), *any_text(1, 8)};
    RC_ASSERT(RoutePattern::parse(pattern.to_string()) == pattern);
  });
}

TEST_CASE("a pattern matches channel and topic") {
  const RoutePattern pattern = RoutePattern::parse("HTTP:order.*");
  CHECK(pattern.matches("HTTP", "order.created"));
  CHECK_FALSE(pattern.matches("MQ", "order.created"));
  CHECK_FALSE(pattern.matches("HTTP", "payment.created"));
  CHECK(RoutePattern{}.matches("", ""));
}

TEST_CASE("the first matching rule decides") {
  const RouteFilter filter{{RoutePattern::parse("order.secret.*"), false}, {RoutePattern::parse("order.*"), true}};
  CHECK(accepts(filter, "MQ", "order.created"));
  CHECK_FALSE(accepts(filter, "MQ", "order.secret.one"));
  CHECK_FALSE(accepts(filter, "MQ", "payment"));
  CHECK_FALSE(accepts(filter, "MQ", std::nullopt));
  CHECK(accepts({}, "MQ", std::nullopt));
  CHECK(accepts({{RoutePattern{}, true}}, "MQ", std::nullopt));
}

TEST_CASE("a filter that takes everything is known") {
  const RouteRule all{RoutePattern{}, true};
  const RouteRule orders{RoutePattern::parse("order.*"), true};
  const RouteRule not_orders{RoutePattern::parse("order.*"), false};
  CHECK(accepts_all({}));
  CHECK(accepts_all({all}));
  CHECK(accepts_all({orders, all}));
  CHECK(accepts_all({all, not_orders}));
  CHECK_FALSE(accepts_all({orders}));
  CHECK_FALSE(accepts_all({not_orders, all}));
  CHECK_FALSE(accepts_all({{RoutePattern{}, false}}));
  CHECK_FALSE(accepts_all({{RoutePattern{"MQ", "*"}, true}}));
}

TEST_CASE("what takes everything takes anything") {
  check_property("accepts_all(filter) means accepts(filter, x)", [] {
    RouteFilter filter;
    const int rules = *rc::gen::inRange(0, 4);
    for (int rule = 0; rule < rules; ++rule)
      filter.push_back({{*rc::gen::element<std::string>("*", "MQ"), *rc::gen::element<std::string>("*", "a*")},
                        *rc::gen::weightedElement<bool>({{3, true}, {1, false}})});
    const bool all = accepts_all(filter);
    RC_CLASSIFY(all, "all");
    bool each = true;
    for (const char* channel : {"MQ", "HTTP"})
      for (const char* topic : {"", "a", "b"}) each = each && accepts(filter, channel, topic);
    RC_ASSERT(!all || each);
  });
}

}  // namespace
}  // namespace waybill::test
