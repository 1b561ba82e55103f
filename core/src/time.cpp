#include "waybill/time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace waybill {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// What four digits of a year can say.
constexpr Timestamp kFirstTime = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
constexpr Timestamp kEndOfTime = std::chrono::sys_days{std::chrono::year{10000} / 1 / 1};

void put_digits(char* at, unsigned value, int width) {
  for (int digit = width; digit-- > 0; value /= 10) at[digit] = static_cast<char>('0' + value % 10);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a text from the left. Every function says whether it found what it wanted.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  [[nodiscard]] bool done() const { return left_.empty(); }
  bool skip(char wanted) {
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool skip_either(char a, char b) { return skip(a) || skip(b); }
  bool number(std::size_t width, int low, int high, int& value) {
    if (left_.size() < width) return false;
    value = 0;
    for (std::size_t digit = 0; digit < width; ++digit) {
      if (!is_digit(left_[digit])) return false;
      value = value * 10 + (left_[digit] - '0');
    }
    left_.remove_prefix(width);
    return value >= low && value <= high;
  }
  /// `.` and 1 to 9 digits, cut to microseconds.
  bool fraction(microseconds& value) {
    std::size_t digits = 0;
    std::int64_t micros = 0;
    for (; digits < left_.size() && is_digit(left_[digits]); ++digits)
      if (digits < 6) micros = micros * 10 + (left_[digits] - '0');
    if (digits < 1 || digits > 9) return false;
    for (std::size_t place = digits; place < 6; ++place) micros *= 10;
    left_.remove_prefix(digits);
    value = microseconds{micros};
    return true;
  }

 private:
  std::string_view left_;
};

/// `Z` or `+hh:mm`; the rest of the text must be just that.
std::optional<minutes> read_offset(Reader& reader) {
  if (reader.skip_either('Z', 'z')) return reader.done() ? std::optional{minutes{0}} : std::nullopt;
  const bool west = reader.skip('-');
  if (!west && !reader.skip('+')) return std::nullopt;
  int hour = 0;
  int minute = 0;
  if (!reader.number(2, 0, 23, hour) || !reader.skip(':') || !reader.number(2, 0, 59, minute) || !reader.done())
    return std::nullopt;
  const minutes offset = hours{hour} + minutes{minute};
  return west ? -offset : offset;
}

/// A whole number in front, the unit behind it.
std::optional<std::uint64_t> read_number(std::string_view text, std::string_view& unit) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  if (b != 0 && a > limit / b) return std::nullopt;
  return a * b;
}

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::array<Unit, 6> kDurationUnits{
    {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};

constexpr std::array<Unit, 4> kByteUnits{{{"", 1}, {"KiB", 1U << 10}, {"MiB", 1U << 20}, {"GiB", 1U << 30}}};

template <std::size_t N>
std::optional<std::uint64_t> read_quantity(std::string_view text, const std::array<Unit, N>& units,
                                           std::uint64_t limit) {
  std::string_view name;
  const std::optional<std::uint64_t> value = read_number(text, name);
  if (!value.has_value()) return std::nullopt;
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == name; });
  return unit == units.end() ? std::nullopt : multiply(*value, unit->size, limit);
}

}  // namespace

Timestamp SystemClock::now() const { return std::chrono::floor<microseconds>(std::chrono::system_clock::now()); }

std::string format_time(Timestamp time) {
  const Timestamp shown = std::clamp(time, kFirstTime, kEndOfTime - microseconds{1});
  const auto day = std::chrono::floor<days>(shown);
  const std::chrono::year_month_day date{day};
  const auto of_day = static_cast<std::uint64_t>((shown - day).count());
  const auto second_of_day = static_cast<unsigned>(of_day / 1'000'000);
  std::string text = "0000-00-00T00:00:00.000000Z";
  put_digits(&text[0], static_cast<unsigned>(int{date.year()}), 4);
  put_digits(&text[5], unsigned{date.month()}, 2);
  put_digits(&text[8], unsigned{date.day()}, 2);
  put_digits(&text[11], second_of_day / 3600, 2);
  put_digits(&text[14], second_of_day / 60 % 60, 2);
  put_digits(&text[17], second_of_day % 60, 2);
  put_digits(&text[20], static_cast<unsigned>(of_day % 1'000'000), 6);
  return text;
}

std::string format_day(Day day) { return format_time(day).substr(0, 10); }

std::optional<Timestamp> parse_time(std::string_view text) {
  Reader reader{text};
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  microseconds fraction{0};
  if (!reader.number(4, 0, 9999, year) || !reader.skip('-') || !reader.number(2, 1, 12, month) || !reader.skip('-') ||
      !reader.number(2, 1, 31, day) || !reader.skip_either('T', 't'))
    return std::nullopt;
  // 60 is a leap second: the same instant as the second after it.
  if (!reader.number(2, 0, 23, hour) || !reader.skip(':') || !reader.number(2, 0, 59, minute) || !reader.skip(':') ||
      !reader.number(2, 0, 60, second))
    return std::nullopt;
  if (reader.skip('.') && !reader.fraction(fraction)) return std::nullopt;
  const std::optional<minutes> offset = read_offset(reader);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!offset.has_value() || !date.ok()) return std::nullopt;
  const Timestamp time =
      Timestamp{std::chrono::sys_days{date}} + hours{hour} + minutes{minute} + seconds{second} + fraction - *offset;
  return time >= kFirstTime && time < kEndOfTime ? std::optional{time} : std::nullopt;
}

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::optional<std::uint64_t> micros = read_quantity(text, kDurationUnits, kMax);
  return micros ? std::optional{Duration{static_cast<std::int64_t>(*micros)}} : std::nullopt;
}

std::string format_duration(Duration duration) {
  if (duration.count() == 0) return "0s";
  for (const Unit& unit : kDurationUnits) {
    const auto size = static_cast<std::int64_t>(unit.size);
    if (duration.count() % size == 0) return std::to_string(duration.count() / size) + std::string{unit.name};
  }
  return std::to_string(duration.count()) + "us";
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  return read_quantity(text, kByteUnits, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace waybill
