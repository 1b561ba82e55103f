#include "waybill/time.hpp"

#include <ctime>

#include "support/generators.hpp"
#include "support/property.hpp"

namespace waybill::test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a time is RFC 3339 with six digits") {
  CHECK(format_time(Timestamp{}) == "1970-01-01T00:00:00.000000Z");
  CHECK(format_time(Timestamp{-1us}) == "1969-12-31T23:59:59.999999Z");
  CHECK(format_time(Timestamp{1'796'060'280s + 7us}) == "2026-11-30T17:38:00.000007Z");
}

TEST_CASE("a time that four digits of a year can't say is shown as the nearest one") {
  CHECK(format_time(Timestamp::max()) == "9999-12-31T23:59:59.999999Z");
  CHECK(format_time(Timestamp::min()) == "0000-01-01T00:00:00.000000Z");
}

TEST_CASE("times with offsets, fractions and small letters are read") {
  const Timestamp expected{1'796'060'280s};
  for (const char* text : {"2026-11-30T17:38:00Z", "2026-11-30t17:38:00z", "2026-11-30T17:38:00.0Z",
                           "2026-11-30T18:38:00+01:00", "2026-11-30T12:08:00-05:30", "2026-11-30T17:38:00-00:00",
                           "2026-12-01T17:37:00+23:59", "2026-11-30T17:38:00.000000999Z"}) {
    CAPTURE(text);
    CHECK(parse_time(text) == expected);
  }
  CHECK(parse_time("2026-11-30T17:38:00.5Z") == expected + 500ms);
  CHECK(parse_time("2026-11-30T17:38:00.123456789Z") == expected + 123456us);
  CHECK(parse_time("2024-02-29T00:00:00Z").has_value());
  CHECK(parse_time("2016-12-31T23:59:60Z") == parse_time("2017-01-01T00:00:00Z"));
}

TEST_CASE("what is no RFC 3339 time is refused") {
  for (const char* text : {"",
                           "2026",
                           "2026-11-30",
                           "2026-11-30T17:38:00",
                           "2026-11-30 17:38:00Z",
                           "2026-11-30T17:38Z",
                           "2026-11-30T17:38:00.Z",
                           "2026-11-30T17:38:00.1234567890Z",
                           "2026-11-30T17:38:00+01",
                           "2026-11-30T17:38:00+0100",
                           "2026-11-30T17:38:00+24:00",
                           "2026-11-30T17:38:00+01:60",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-04-00T00:00:00Z",
                           "2026-04-01T24:00:00Z",
                           "2026-04-01T00:60:00Z",
                           "2026-04-01T00:00:61Z",
                           "2026-04-01T00:00:00Z ",
                           " 2026-04-01T00:00:00Z",
                           "+026-04-01T00:00:00Z",
                           "2026-4-01T00:00:00Z",
                           "2026-04-01T00:00:00ZZ",
                           "2026-04-01T00:00:00X",
                           "0000-01-01T00:00:00+00:01",
                           "9999-12-31T23:59:59-00:01",
                           "10000-01-01T00:00:00Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text).has_value());
  }
}

TEST_CASE("times survive being written and read") {
  check_property("parse_time(format_time(t)) == t", [] {
    const Timestamp time = *any_time();
    RC_ASSERT(parse_time(format_time(time)) == time);
  });
  check_property("format_time agrees with the C library", [] {
    const Timestamp time = *any_time();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const std::time_t plain = seconds.time_since_epoch().count();
    std::tm parts{};
    gmtime_r(&plain, &parts);
    char text[64];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    RC_ASSERT(format_time(time).substr(0, 19) == std::string{text});
    RC_ASSERT(std::stoll(format_time(time).substr(20, 6)) == (time - seconds).count());
  });
  check_property("an offset moves a time by itself", [] {
    const Timestamp time = std::chrono::floor<std::chrono::seconds>(Timestamp{1'000'000'000s}) +
                           std::chrono::seconds{*rc::gen::inRange(0, 1'000'000'000)};
    const int minutes = *rc::gen::inRange(-23 * 60 - 59, 24 * 60);
    const int size = std::abs(minutes);
    char offset[16];
    std::snprintf(offset, sizeof offset, "%c%02d:%02d", minutes < 0 ? '-' : '+', size / 60, size % 60);
    const std::string local = format_time(time + std::chrono::minutes{minutes}).substr(0, 19);
    RC_ASSERT(parse_time(local + offset) == time);
  });
}

TEST_CASE("durations have one unit") {
  CHECK(parse_duration("250ms") == Duration{250ms});
  CHECK(parse_duration("2s") == Duration{2s});
  CHECK(parse_duration("5m") == Duration{5min});
  CHECK(parse_duration("12h") == Duration{12h});
  CHECK(parse_duration("30d") == Duration{24h * 30});
  CHECK(parse_duration("7us") == Duration{7us});
  CHECK(parse_duration("0s") == Duration{0});
  for (const char* text :
       {"", "5", "s", "-1s", "+1s", "1.5s", "1 s", " 1s", "1s ", "1S", "1h30m", "1ns", "0x1s", "1w"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("a duration is shown in the largest unit that keeps it whole") {
  CHECK(format_duration(90s) == "90s");
  CHECK(format_duration(60s) == "1m");
  CHECK(format_duration(250ms) == "250ms");
  CHECK(format_duration(1001us) == "1001us");
  CHECK(format_duration(48h) == "2d");
  CHECK(format_duration(Duration{0}) == "0s");
  CHECK(format_duration(-5s) == "-5s");
  CHECK(format_duration(Duration::min()) == "-9223372036854775808us");
}

TEST_CASE("durations and sizes that do not fit are refused") {
  CHECK(parse_duration("9223372036854775807us") == Duration::max());
  CHECK_FALSE(parse_duration("9223372036854775808us").has_value());
  CHECK_FALSE(parse_duration("99999999999999999999999s").has_value());
  CHECK(parse_duration("106751991d").has_value());
  CHECK_FALSE(parse_duration("106751992d").has_value());
  CHECK(parse_bytes("18446744073709551615") == 18446744073709551615U);
  CHECK_FALSE(parse_bytes("18446744073709551616").has_value());
  CHECK(parse_bytes("17179869183GiB").has_value());
  CHECK_FALSE(parse_bytes("17179869184GiB").has_value());
}

TEST_CASE("durations survive being written and read") {
  check_property("parse_duration(format_duration(d)) == d", [] {
    const auto unit = *rc::gen::element<std::int64_t>(1, 1'000, 1'000'000, 60'000'000, 3'600'000'000, 86'400'000'000);
    const auto number = *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max() / unit);
    const Duration duration{number * unit};
    RC_ASSERT(parse_duration(format_duration(duration)) == duration);
  });
}

TEST_CASE("sizes are plain or in powers of 1024") {
  CHECK(parse_bytes("4096") == 4096U);
  CHECK(parse_bytes("64KiB") == 65536U);
  CHECK(parse_bytes("1MiB") == 1048576U);
  CHECK(parse_bytes("2GiB") == 2147483648U);
  CHECK(parse_bytes("0") == 0U);
  for (const char* text : {"", "KiB", "-1", "1kb", "1KB", "1K", "1.5MiB", "1 MiB", "1MiB ", "1TiB", "0x10"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text).has_value());
  }
}

TEST_CASE("the system clock is near the C library's") {
  const auto before = std::chrono::seconds{std::time(nullptr)};
  const Timestamp now = SystemClock{}.now();
  CHECK(now >= Timestamp{before});
  CHECK(now < Timestamp{before + 60s});
}

}  // namespace
}  // namespace waybill::test
