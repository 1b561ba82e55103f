// What the line transport does with real descriptors: pipes, full devices, torn lines.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"
#include "transports/sample_events.hpp"
#include "waybill/codec.hpp"
#include "waybill/transports/stdout.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;
using Kind = Outcome::Kind;

constexpr Duration kBudget = std::chrono::seconds{10};
constexpr int kPipeBytes = 4096;

/// A pipe; SIGPIPE does not end the test.
class Pipe {
 public:
  enum class Size { usual, smallest };
  explicit Pipe(Size size = Size::usual) {
    std::signal(SIGPIPE, SIG_IGN);
    REQUIRE(::pipe2(fds_, O_CLOEXEC) == 0);
    if (size == Size::smallest) REQUIRE(::fcntl(fds_[1], F_SETPIPE_SZ, kPipeBytes) == kPipeBytes);
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int writer() const { return fds_[1]; }
  void close_reader() { close(fds_[0]); }
  void close_writer() { close(fds_[1]); }
  /// Up to `limit` bytes, or all until the writer is closed.
  [[nodiscard]] std::string read(std::size_t limit = SIZE_MAX) const {
    std::string text;
    char buffer[1000];
    while (text.size() < limit) {
      const ssize_t count = ::read(fds_[0], buffer, std::min(sizeof buffer, limit - text.size()));
      if (count <= 0) break;
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int fds_[2]{-1, -1};
};

std::unique_ptr<ITransport> line_transport(int fd, LineFormat format = LineFormat::event) {
  return make_line_transport(std::make_shared<LineSink>(fd), format);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t count_kind(const std::vector<Outcome>& outcomes, Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [kind](const Outcome& outcome) { return outcome.kind == kind; }));
}

/// Every line is whole JSON, and the last one ended.
void check_whole_lines(const std::string& text) {
  REQUIRE_FALSE(text.empty());
  CHECK(text.back() == '\n');
  for (const std::string& line : lines_of(text)) CHECK(is_valid_json(line));
}

/// While it lives, no file of this process grows beyond `bytes`: a disk that is full in the middle of a line.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE("each format is the codec's line") {
  const Event event = sample_event("E1", "A", "{\n  \"text\": \"two\\nlines\"\n}");
  const std::vector<std::pair<LineFormat, std::string>> expected{{LineFormat::cloudevents, to_cloudevent(event)},
                                                                 {LineFormat::event, to_json(event)},
                                                                 {LineFormat::payload, to_payload_line(event)}};
  for (const auto& [format, line] : expected) {
    Pipe pipe;
    const auto outcomes = line_transport(pipe.writer(), format)->deliver(std::vector{event}, kBudget);
    CHECK(outcomes.at(0).kind == Kind::delivered);
    pipe.close_writer();
    CHECK(pipe.read() == line + "\n");
  }
}

TEST_CASE("an event that is no JSON is rejected in every format and costs the others nothing") {
  for (const LineFormat format : {LineFormat::cloudevents, LineFormat::event, LineFormat::payload}) {
    Pipe pipe;
    const std::vector<Event> events{sample_event("1", "A"), sample_event("2", "B", R"({"a":)"), sample_event("3", "C")};
    const auto outcomes = line_transport(pipe.writer(), format)->deliver(events, kBudget);
    CHECK(outcomes[0].kind == Kind::delivered);
    CHECK(outcomes[1].kind == Kind::rejected);
    CHECK_THAT(outcomes[1].reason, Contains("event_payload"));
    CHECK(outcomes[2].kind == Kind::delivered);
    pipe.close_writer();
    CHECK(lines_of(pipe.read()).size() == 2);
  }
}

TEST_CASE("a reader that is gone makes the destination unavailable and the transport finished") {
  Pipe pipe;
  pipe.close_reader();
  const auto transport = line_transport(pipe.writer());
  const std::vector<Event> events{sample_event("1", "A"), sample_event("2", "A"), sample_event("3", "B")};
  for (int round = 0; round < 2; ++round) {
    const auto outcomes = transport->deliver(events, kBudget);
    REQUIRE(outcomes.size() == 3);
    CHECK(outcomes[0].kind == Kind::unavailable);
    CHECK(outcomes[0].reason == "the reader of standard output is gone");
    CHECK(outcomes[1].kind == Kind::not_attempted);
    CHECK(outcomes[2].kind == Kind::unavailable);
    CHECK(transport->finished() == "the reader of standard output is gone");
  }
}

TEST_CASE("an event that is no JSON is not judged before those in front of it are delivered") {
  Pipe pipe;
  pipe.close_reader();
  const std::vector<Event> events{sample_event("1", "A"), sample_event("2", "A", "{")};
  const auto outcomes = line_transport(pipe.writer())->deliver(events, kBudget);
  CHECK(outcomes[0].kind == Kind::unavailable);
  CHECK(outcomes[1].kind == Kind::not_attempted);
}

TEST_CASE("a reader that goes in the middle: what it could read was delivered, the rest was not") {
  Pipe pipe{Pipe::Size::smallest};
  const auto events = sample_events(400);
  const std::size_t line_bytes = to_json(events[0]).size() + 1;
  std::string received;
  std::thread reader{[&] {
    received = pipe.read(100 * line_bytes);
    pipe.close_reader();
  }};
  const auto transport = line_transport(pipe.writer());
  const auto outcomes = transport->deliver(events, kBudget);
  reader.join();
  const std::size_t delivered = count_kind(outcomes, Kind::delivered);
  CHECK(delivered >= lines_of(received).size() - 1);
  // What the pipe itself held is lost with its reader; nothing can know that.
  CHECK(delivered <= (received.size() + kPipeBytes) / (line_bytes - 4));
  CHECK(count_kind(outcomes, Kind::unavailable) == events.size() - delivered);
  CHECK_FALSE(transport->finished().empty());
}

TEST_CASE("a full device is unavailable, not the end") {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  const auto transport = line_transport(fd);
  const auto outcomes = transport->deliver(sample_events(3), kBudget);
  CHECK(count_kind(outcomes, Kind::unavailable) == 3);
  CHECK_THAT(outcomes[0].reason, Contains("No space left on device"));
  CHECK(transport->finished().empty());
  ::close(fd);
}

TEST_CASE("a closed descriptor ends the transport") {
  Pipe pipe;
  const int fd = pipe.writer();
  const auto transport = line_transport(fd);
  pipe.close_writer();
  CHECK(count_kind(transport->deliver(sample_events(2), kBudget), Kind::unavailable) == 2);
  CHECK(transport->finished() == "standard output is closed");
}

TEST_CASE("a line torn by a full disk is completed before anything else is written") {
  const TempDir dir;
  const auto path = dir.path() / "out.ndjson";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  const auto sink = std::make_shared<LineSink>(fd);
  const auto transport = make_line_transport(sink, LineFormat::event);
  const auto events = sample_events(4);
  const std::size_t line_bytes = to_json(events[0]).size() + 1;
  {
    const FileSizeLimit full_disk{static_cast<rlim_t>(2 * line_bytes + line_bytes / 2)};
    const auto outcomes = transport->deliver(events, kBudget);
    CHECK(count_kind(outcomes, Kind::delivered) == 2);
    CHECK(outcomes[2].kind == Kind::unavailable);
    CHECK_THAT(outcomes[2].reason, Contains("File too large"));
    CHECK(count_kind(transport->deliver(std::span{events}.subspan(2), kBudget), Kind::unavailable) == 2);
    CHECK(transport->finished().empty());
  }
  // Another worker of the same process comes first: the line is the sink's business, not the worker's.
  const auto other = make_line_transport(sink, LineFormat::event);
  CHECK(other->deliver(std::vector{sample_event("other", "X")}, kBudget)[0].kind == Kind::delivered);
  CHECK(count_kind(transport->deliver(std::span{events}.subspan(2), kBudget), Kind::delivered) == 2);
  ::close(fd);
  const std::string text = read_file(path);
  check_whole_lines(text);
  std::vector<std::string> numbers;
  for (const std::string& line : lines_of(text)) numbers.push_back(nlohmann::json::parse(line).at("event_no"));
  CHECK(numbers == std::vector<std::string>{"E0", "E1", "E2", "other", "E2", "E3"});
}

TEST_CASE("a reader that stands still costs the budget, and the output stays whole afterwards") {
  Pipe pipe{Pipe::Size::smallest};
  const auto transport = line_transport(pipe.writer());
  const auto events = sample_events(40);
  const auto outcomes = transport->deliver(events, std::chrono::milliseconds{20});
  const std::size_t delivered = count_kind(outcomes, Kind::delivered);
  CHECK(delivered == kPipeBytes / (to_json(events[0]).size() + 1));
  CHECK(outcomes[delivered].kind == Kind::unavailable);
  CHECK_THAT(outcomes[delivered].reason, Contains("too slow"));
  CHECK(transport->finished().empty());
  std::string received;
  std::thread reader{[&] { received = pipe.read(); }};
  CHECK(count_kind(transport->deliver(std::span{events}.subspan(delivered), kBudget), Kind::delivered) ==
        events.size() - delivered);
  pipe.close_writer();
  reader.join();
  check_whole_lines(received);
  CHECK(lines_of(received).size() == events.size() + 1);  // the torn line's event twice
}

TEST_CASE("lines of several workers never mix") {
  Pipe pipe{Pipe::Size::smallest};
  const auto sink = std::make_shared<LineSink>(pipe.writer());
  constexpr std::size_t kWorkers = 4;
  constexpr std::size_t kEvents = 100;
  const std::string payload = R"({"text":")" + std::string(3000, 'x') + R"("})";
  std::string received;
  std::thread reader{[&] { received = pipe.read(); }};
  std::vector<std::thread> workers;
  std::vector<std::size_t> delivered(kWorkers);
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      const auto transport = make_line_transport(sink, LineFormat::event);
      delivered[worker] = count_kind(transport->deliver(sample_events(kEvents, payload), kBudget), Kind::delivered);
    });
  }
  for (std::thread& worker : workers) worker.join();
  pipe.close_writer();
  reader.join();
  CHECK(delivered == std::vector<std::size_t>(kWorkers, kEvents));
  check_whole_lines(received);
  CHECK(lines_of(received).size() == kWorkers * kEvents);
}

}  // namespace
}  // namespace waybill::test
