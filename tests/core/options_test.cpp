#include "waybill/options.hpp"

#include <array>

#include "support/generators.hpp"
#include "support/property.hpp"
#include "waybill/error.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;

constexpr std::array<OptionSpec, 8> kSpecs{{
    {"name", OptionType::text, "nobody", "any text"},
    {"count", OptionType::integer, "5", "how many", "-2..10"},
    {"size", OptionType::bytes, "1MiB", "bytes", "1KiB.."},
    {"wait", OptionType::duration, "2s", "how long", "..1h"},
    {"sync", OptionType::boolean, "no", "yes or no"},
    {"mode", OptionType::choice, "full", "how", "full|normal|off"},
    {"api_key", OptionType::integer, "0", "secret number"},
    {"free", OptionType::integer, "0", "no range"},
}};

Options read(std::string_view query) { return Options{Url::parse("test:x?" + std::string{query}), kSpecs}; }

std::string error_of(std::string_view query) {
  try {
    (void)read(query);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST_CASE("options not given have their defaults") {
  const Options options = read("");
  CHECK(options.text("name") == "nobody");
  CHECK(options.integer("count") == 5);
  CHECK(options.bytes("size") == 1048576);
  CHECK(options.duration("wait") == 2s);
  CHECK_FALSE(options.boolean("sync"));
  CHECK(options.text("mode") == "full");
  CHECK_FALSE(options.given("name"));
}

TEST_CASE("given options have their values") {
  const Options options = read("name=a%26b&count=-2&size=64KiB&wait=1h&sync=on&mode=off");
  CHECK(options.text("name") == "a&b");
  CHECK(options.integer("count") == -2);
  CHECK(options.bytes("size") == 65536);
  CHECK(options.duration("wait") == 1h);
  CHECK(options.boolean("sync"));
  CHECK(options.text("mode") == "off");
  CHECK(options.given("name"));
  CHECK_FALSE(options.given("free"));
}

TEST_CASE("yes and no have several words") {
  for (const char* word : {"yes", "true", "on", "1"}) CHECK(read(std::string{"sync="} + word).boolean("sync"));
  for (const char* word : {"no", "false", "off", "0"}) CHECK_FALSE(read(std::string{"sync="} + word).boolean("sync"));
}

TEST_CASE("values that do not fit are refused with what would") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"count=11", "from -2 to 10"},    {"count=-3", "from -2 to 10"},
      {"count=x", "whole number"},      {"count=", "whole number"},
      {"count=1.5", "whole number"},    {"free=99999999999999999999", "whole number"},
      {"size=1023", "from 1KiB"},       {"size=1kb", "64KiB"},
      {"wait=61m", "up to 1h"},         {"wait=5", "250ms"},
      {"sync=maybe", "yes or no"},      {"sync", "yes or no"},
      {"mode=fast", "full normal off"}, {"mode=full|normal", "full normal off"},
      {"mode=", "full normal off"},
  };
  for (const auto& [query, part] : wrong) {
    CAPTURE(query);
    const std::string message = error_of(query);
    CHECK(contains(message, part));
    CHECK(contains(message, query.substr(0, query.find('='))));
    CHECK(contains(message, "test:x"));
  }
}

TEST_CASE("an unknown option names the nearest one") {
  CHECK(contains(error_of("cuont=3"), "did you mean 'count'?"));
  CHECK(contains(error_of("nmae=3"), "did you mean 'name'?"));
  CHECK(contains(error_of("completely_different=3"), "known are: name count"));
  CHECK(contains(error_of("Count=3"), "did you mean 'count'?"));
  CHECK_THROWS_WITH((Options{Url::parse("test:x?a=1"), std::span<const OptionSpec>{}}),
                    Catch::Contains("test: takes none"));
}

TEST_CASE("messages about options hold no secret") {
  const std::string message = error_of("api_key=QZ");
  CHECK(contains(message, "api_key"));
  CHECK_FALSE(contains(message, "QZ"));
  try {
    (void)Options{Url::parse("test://user:1?QZ@host"), kSpecs};
    FAIL("taken");
  } catch (const ConfigError& error) {
    CHECK_FALSE(contains(error.what(), "QZ"));
  }
}

TEST_CASE("nearest_name is near or empty") {
  const std::vector<std::string> names{"event_no", "event_type", "topic"};
  CHECK(nearest_name("event_nr", names) == "event_no");
  CHECK(nearest_name("eventtype", names) == "event_type");
  CHECK(nearest_name("tpoic", names) == "topic");
  CHECK(nearest_name("zzz", names).empty());
  // A third of the letters may be wrong, not more; of two equally near names the first counts.
  const std::vector<std::string> close{"abcdefghi", "abcdefghx"};
  CHECK(nearest_name("abcdef---", close) == "abcdefghi");
  CHECK(nearest_name("abcde----", close).empty());
  CHECK(nearest_name("abcdefgh-", close) == "abcdefghi");
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name(std::string(100'000, 'e'), names).empty());
  CHECK(nearest_name("topic", {}).empty());
  check_property("a name with one letter changed finds its name", [&] {
    const std::string name = *rc::gen::elementOf(names);
    std::string typo = name;
    typo[*rc::gen::inRange<std::size_t>(0, name.size())] = '-';
    RC_ASSERT(nearest_name(typo, names) == name);
  });
}

TEST_CASE("numbers in a range are taken, others are not") {
  check_property("count=N is taken exactly when -2 <= N <= 10", [] {
    const auto number = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-5, 15), rc::gen::arbitrary<std::int64_t>());
    const bool fits = number >= -2 && number <= 10;
    RC_ASSERT(error_of("count=" + std::to_string(number)).empty() == fits);
    if (fits) RC_ASSERT(read("count=" + std::to_string(number)).integer("count") == number);
  });
}

}  // namespace
}  // namespace waybill::test
