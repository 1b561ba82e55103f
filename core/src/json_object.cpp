#include "json_object.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "utf8.hpp"
#include "waybill/limits.hpp"

namespace waybill {
namespace {

/// Lets the parser's callbacks know how far it has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Collects the members of the outermost object.
class MemberReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  MemberReader(std::string_view text, std::vector<JsonMember>& members)
      : seen_(text.data()), start_(text.data()), members_(members) {}

  [[nodiscard]] const char** seen() { return &seen_; }
  [[nodiscard]] JsonError error() const { return error_; }

  bool null() override { return scalar(JsonKind::null, 0); }
  bool boolean(bool) override { return scalar(JsonKind::boolean, 0); }
  // Behind a number the parser has read one character more.
  bool number_integer(number_integer_t) override { return scalar(JsonKind::integer, 1); }
  bool number_unsigned(number_unsigned_t) override { return scalar(JsonKind::integer, 1); }
  bool number_float(number_float_t, const string_t& text) override {
    // An integer too long for 64 bits comes as a double, too.
    return scalar(text.find_first_of(".eE") == string_t::npos ? JsonKind::integer : JsonKind::floating, 1);
  }
  bool string(string_t& value) override {
    if (depth_ == 1) members_.back().text = std::move(value);
    return scalar(JsonKind::string, 0);
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonKind::object); }
  bool start_array(std::size_t) override { return open(JsonKind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    const auto same = [&](const JsonMember& member) { return member.key == name; };
    if (std::any_of(members_.begin(), members_.end(), same)) {
      error_ = {utf8::for_message(name), "key '" + utf8::for_message(name) + "' is given twice"};
      return false;
    }
    members_.push_back({});
    members_.back().key = std::move(name);
    start_ = seen_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    error_ = {"", "not valid JSON at byte " + std::to_string(position)};
    return false;
  }

 private:
  bool scalar(JsonKind kind, std::ptrdiff_t ahead) {
    if (depth_ == 0) {
      error_ = {"", "not a JSON object"};
      return false;
    }
    if (depth_ == 1) finish(kind, seen_ - ahead);
    return true;
  }
  bool open(JsonKind kind) {
    if (depth_ == 0 && kind != JsonKind::object) {
      error_ = {"", "not a JSON object"};
      return false;
    }
    if (++depth_ > kMaxJsonDepth) {
      error_ = {"", "JSON deeper than " + std::to_string(kMaxJsonDepth) + " levels"};
      return false;
    }
    if (depth_ == 2) members_.back().kind = kind;
    return true;
  }
  bool close() {
    if (--depth_ == 1) finish(members_.back().kind, seen_);
    return true;
  }
  void finish(JsonKind kind, const char* end) {
    const char* begin = start_;
    while (is_space(*begin) || *begin == ':') ++begin;
    members_.back().kind = kind;
    members_.back().raw = {begin, static_cast<std::size_t>(end - begin)};
  }

  const char* seen_;   ///< behind the last character read
  const char* start_;  ///< behind the last key
  std::vector<JsonMember>& members_;
  int depth_{0};
  JsonError error_;
};

/// True for text that stands in JSON as it is.
bool needs_no_escape(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

}  // namespace

std::optional<JsonError> read_members(std::string_view text, std::vector<JsonMember>& members) {
  // The parser skips a byte-order mark and takes a NUL for the end of the text.
  if (text.substr(0, 3) == "\xEF\xBB\xBF") return JsonError{"", "starts with a byte-order mark; remove it"};
  if (text.find('\0') != std::string_view::npos) return JsonError{"", "holds a NUL byte"};
  members.clear();
  MemberReader reader{text, members};
  const CountingIterator begin{text.data(), reader.seen()};
  const CountingIterator end{text.data() + text.size(), reader.seen()};
  if (nlohmann::json::sax_parse(begin, end, &reader)) return std::nullopt;
  return reader.error();
}

std::string on_one_line(std::string_view json) {
  std::string line{json};
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return line;
}

void JsonLine::text(std::string_view key, std::string_view value) {
  start(key);
  if (needs_no_escape(value)) {
    line_ += '"';
    line_ += value;
    line_ += '"';
  } else {
    line_ += nlohmann::json(value).dump(-1, ' ', false, bad_utf8_);
  }
}

void JsonLine::json(std::string_view key, std::string_view json) {
  start(key);
  const std::size_t from = line_.size();
  line_ += json;
  // Not find_first_of: that searches a set anew for each character of a payload.
  if (std::none_of(json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; })) return;
  std::replace_if(
      line_.begin() + static_cast<std::ptrdiff_t>(from), line_.end(),
      [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
}

}  // namespace waybill
