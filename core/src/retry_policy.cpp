#include "waybill/retry_policy.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "utf8.hpp"
#include "waybill/error.hpp"

namespace waybill {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr double kDefaultJitter = 0.1;
constexpr Duration kMaxDelay = hours{24 * 3650};  // ten years: `now + delay` stays far from overflow
constexpr Duration kMaxWish = hours{24};
constexpr std::string_view kExponential = "exponential:";
constexpr std::string_view kJitter = "jitter=";

void check_delay(Duration delay, const char* what) {
  if (delay < Duration{0} || delay > kMaxDelay)
    throw ConfigError(std::string{"retry policy: "} + what + " is " + format_duration(delay) + "; use 0s to " +
                      format_duration(kMaxDelay));
}

void check_jitter(double jitter) {
  if (!(jitter >= 0 && jitter <= 1)) throw ConfigError("retry policy: jitter must be a number from 0 to 1");
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string format_number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);
  return error == std::errc{} ? std::string{text, end} : std::to_string(value);
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = text.find(mark); end != std::string_view::npos; end = text.find(mark)) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

[[noreturn]] void fail(std::string_view text, const std::string& what) {
  throw ConfigError("bad retry policy '" + utf8::for_message(text) + "': " + what +
                    "; write 1m,5m,30m,2h or exponential:1s,2,1h (base, factor, cap), then ;jitter=0.2 if wanted");
}

Duration read_delay(std::string_view text, std::string_view piece) {
  const std::optional<Duration> delay = parse_duration(piece);
  if (!delay.has_value()) fail(text, "'" + utf8::for_message(piece) + "' is no duration");
  return *delay;
}

}  // namespace

RetryPolicy::RetryPolicy() : delays_{minutes{1}, minutes{5}, minutes{30}, hours{2}} {}

RetryPolicy RetryPolicy::fixed(std::vector<Duration> delays, double jitter) {
  if (delays.empty()) throw ConfigError("retry policy: at least one delay is needed");
  for (const Duration delay : delays) check_delay(delay, "a delay");
  check_jitter(jitter);
  RetryPolicy policy;
  policy.delays_ = std::move(delays);
  policy.jitter_ = jitter;
  return policy;
}

RetryPolicy RetryPolicy::exponential(Duration base, double factor, Duration cap, double jitter) {
  check_delay(base, "the base");
  check_delay(cap, "the cap");
  if (cap < base) throw ConfigError("retry policy: the cap is smaller than the base");
  if (!(factor >= 1 && std::isfinite(factor))) throw ConfigError("retry policy: the factor must be a number from 1");
  check_jitter(jitter);
  RetryPolicy policy;
  policy.delays_.clear();
  policy.base_ = base;
  policy.factor_ = factor;
  policy.cap_ = cap;
  policy.jitter_ = jitter;
  return policy;
}

RetryPolicy RetryPolicy::parse(std::string_view text) {
  std::string_view delays = text;
  double jitter = kDefaultJitter;
  if (const std::size_t mark = text.find(';'); mark != std::string_view::npos) {
    const std::string_view option = text.substr(mark + 1);
    const bool known = option.substr(0, kJitter.size()) == kJitter;
    const std::optional<double> value = known ? parse_number(option.substr(kJitter.size())) : std::nullopt;
    if (!value.has_value()) fail(text, "only jitter=NUMBER may follow the ;");
    jitter = *value;
    delays = text.substr(0, mark);
  }
  if (delays.substr(0, kExponential.size()) == kExponential) {
    const std::vector<std::string_view> pieces = split(delays.substr(kExponential.size()), ',');
    const std::optional<double> factor = pieces.size() == 3 ? parse_number(pieces[1]) : std::nullopt;
    if (!factor.has_value()) fail(text, "exponential takes base, factor and cap");
    return exponential(read_delay(text, pieces[0]), *factor, read_delay(text, pieces[2]), jitter);
  }
  std::vector<Duration> list;
  for (const std::string_view piece : split(delays, ',')) list.push_back(read_delay(text, piece));
  return fixed(std::move(list), jitter);
}

Duration RetryPolicy::delay(int failures, double random) const {
  const auto made = static_cast<std::size_t>(std::max(failures, 1));
  Duration plain = cap_;
  if (!delays_.empty()) {
    plain = delays_[std::min(made, delays_.size()) - 1];
  } else {
    const double grown = static_cast<double>(base_.count()) * std::pow(factor_, static_cast<double>(made - 1));
    if (base_.count() == 0)
      plain = base_;
    else if (grown < static_cast<double>(cap_.count()))
      plain = Duration{static_cast<Duration::rep>(grown)};
  }
  const double share = random > 0 ? jitter_ * std::min(random, 1.0) : 0;
  return plain + Duration{static_cast<Duration::rep>(static_cast<double>(plain.count()) * share)};
}

Timestamp RetryPolicy::next_time(Timestamp now, int failures, double random,
                                 std::optional<Duration> retry_after) const {
  const Duration wish = std::min(retry_after.value_or(Duration{0}), kMaxWish);
  return now + std::max(delay(failures, random), wish);
}

std::string RetryPolicy::to_string() const {
  std::string text;
  if (delays_.empty()) {
    text =
        std::string{kExponential} + format_duration(base_) + "," + format_number(factor_) + "," + format_duration(cap_);
  } else {
    for (const Duration delay : delays_) text += (text.empty() ? "" : ",") + format_duration(delay);
  }
  if (jitter_ != kDefaultJitter) text += ";" + std::string{kJitter} + format_number(jitter_);
  return text;
}

}  // namespace waybill
