// `waybill put`: events in, one JSON object a line.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "arguments.hpp"
#include "line_reader.hpp"
#include "session.hpp"
#include "text.hpp"
#include "verb.hpp"
#include "waybill/codec.hpp"
#include "waybill/limits.hpp"

namespace waybill::cli {
namespace {

constexpr const char* kExamples = R"(Input: one JSON object a line; blank lines are passed over.
  --format events       keys are the columns of biz_outbox_event; event_no, aggregate_type, aggregate_id, event_type
                        and event_payload are required
  --format cloudevents  CloudEvents 1.0, structured; subject is "aggregate_type/aggregate_id"

A bad line is reported as "line N: reason" and the rest goes on. An event that is there already with the same content is
a duplicate, which is fine: the same input may be put again after a failure.

Exit status: 0 every event is in the store; 1 failed, and it says from which line to go on; 2 wrong usage;
3 some lines were refused or in conflict with what is stored.

Examples:
  waybill put --store sqlite:events.db events.ndjson
  producer | waybill put --store sqlite:events.db --format cloudevents
  waybill put --store 'sqlite:events.db?max_payload=4MiB' --batch 500 events.ndjson)";

/// Events of one transaction are held in memory together: no more than this, whatever --batch says.
constexpr std::size_t kBatchBytes = 8U << 20;
constexpr auto kProgressEvery = std::chrono::milliseconds{200};

struct PutOptions {
  std::string file{"-"};
  std::string format{"events"};
  std::size_t batch{100};
};

struct PutCounts {
  std::uint64_t inserted{0};
  std::uint64_t duplicates{0};
  std::uint64_t conflicts{0};
  std::uint64_t refused{0};
};

/// The store's limits, as far as its URL says them: a bad line is then told apart before it costs a batch.
Limits limits_of(const Session& session) {
  Limits limits;
  const Url url = session.store_url();
  const auto entry = session.stores.entries().find(url.scheme);
  if (entry == session.stores.entries().end()) return limits;  // open() has the message
  for (const OptionSpec& spec : entry->second.options)
    if (spec.name == "max_payload")
      limits.max_payload_bytes = static_cast<std::size_t>(Options{url, entry->second.options}.bytes(spec.name));
  return limits;
}

/// Standard input or a file.
class Input {
 public:
  explicit Input(const std::string& path)
      : fd_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "can't read '" + path + "'");
  }
  ~Input() {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

/// One run: lines in, batches out.
class PutJob {
 public:
  PutJob(const PutOptions& options, const Session& session)
      : options_(options),
        session_(session),
        limits_(limits_of(session)),
        repository_(session.open(OpenMode::read_write)),
        input_(options.file),
        reader_(input_.fd(), max_line()) {}

  int run();

 private:
  /// \uXXXX takes six bytes for one: a line may be that much longer than what it says.
  [[nodiscard]] std::size_t max_line() const {
    return 6 * (limits_.max_payload_bytes + limits_.max_headers_bytes) + (64U << 10);
  }
  void read_all();
  void take(std::string_view line);
  void refuse(std::uint64_t line, const std::string& reason);
  void flush();
  void append_one_by_one();
  void account(std::size_t index, const AppendResult& result);
  void show_progress();
  void clear_progress();
  [[nodiscard]] int stopped(const StorageError& error);
  [[nodiscard]] std::string summary() const;
  void print_json(bool complete) const;

  const PutOptions& options_;
  const Session& session_;
  Limits limits_;
  std::unique_ptr<IEventRepository> repository_;
  Input input_;
  LineReader reader_;
  std::vector<NewEvent> batch_;
  std::vector<std::uint64_t> lines_;  ///< where each event of the batch came from
  std::size_t batch_bytes_{0};
  PutCounts counts_;
  bool progress_{::isatty(STDERR_FILENO) == 1 && !session_.common.quiet};
  bool progress_shown_{false};
  std::chrono::steady_clock::time_point next_progress_{};
};

void PutJob::refuse(std::uint64_t line, const std::string& reason) {
  clear_progress();
  ++counts_.refused;
  std::fprintf(stderr, "line %llu: %s\n", static_cast<unsigned long long>(line), safe_text(reason).c_str());
}

void PutJob::take(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  try {
    NewEvent event = options_.format == "cloudevents" ? parse_cloudevent(line) : parse_event(line);
    if (const auto violation = find_violation(event, limits_)) {
      refuse(reader_.line_number(), violation->message);
      return;
    }
    batch_bytes_ += line.size();
    batch_.push_back(std::move(event));
    lines_.push_back(reader_.line_number());
  } catch (const InvalidEvent& error) {
    refuse(reader_.line_number(), error.what());
  }
  if (batch_.size() >= options_.batch || batch_bytes_ >= kBatchBytes) flush();
}

void PutJob::read_all() {
  std::string_view line;
  while (true) {
    switch (reader_.next(line)) {
      case LineReader::Read::line:
        take(line);
        break;
      case LineReader::Read::too_long:
        refuse(reader_.line_number(), "longer than " + std::to_string(max_line()) +
                                          " bytes: no event within the payload limit of " +
                                          std::to_string(limits_.max_payload_bytes) + " bytes is");
        break;
      case LineReader::Read::end:
        flush();
        return;
    }
    show_progress();
  }
}

void PutJob::account(std::size_t index, const AppendResult& result) {
  switch (result.status) {
    case AppendStatus::inserted:
      ++counts_.inserted;
      break;
    case AppendStatus::duplicate:
      ++counts_.duplicates;
      break;
    case AppendStatus::conflict:
      clear_progress();
      ++counts_.conflicts;
      std::fprintf(stderr, "line %llu: event %s conflicts with the stored one: %s differs\n",
                   static_cast<unsigned long long>(lines_[index]), safe_text(batch_[index].event_no).c_str(),
                   result.difference.c_str());
      break;
  }
}

void PutJob::flush() {
  if (batch_.empty()) return;
  try {
    const auto results = repository_->append(batch_);
    for (std::size_t index = 0; index < results.size(); ++index) account(index, results[index]);
  } catch (const InvalidEvent&) {
    append_one_by_one();  // a limit of the store's that we do not know: its good lines must get in
  }
  batch_.clear();
  lines_.clear();
  batch_bytes_ = 0;
}

void PutJob::append_one_by_one() {
  for (std::size_t index = 0; index < batch_.size(); ++index) {
    try {
      const auto results = repository_->append(std::span{&batch_[index], 1});
      account(index, results.front());
    } catch (const InvalidEvent& error) {
      refuse(lines_[index], error.what());
    } catch (const StorageError&) {
      lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(index));  // go on from here
      throw;
    }
  }
}

void PutJob::show_progress() {
  if (!progress_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_progress_) return;
  next_progress_ = now + kProgressEvery;
  progress_shown_ = true;
  std::fprintf(stderr, "\rput: %llu lines read, %llu inserted", static_cast<unsigned long long>(reader_.line_number()),
               static_cast<unsigned long long>(counts_.inserted));
}

void PutJob::clear_progress() {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  progress_shown_ = false;
}

std::string PutJob::summary() const {
  return "put: " + std::to_string(counts_.inserted) + " inserted, " + std::to_string(counts_.duplicates) +
         " duplicates, " + std::to_string(counts_.conflicts) + " conflicts, " + std::to_string(counts_.refused) +
         " refused";
}

void PutJob::print_json(bool complete) const {
  if (!session_.common.json) return;
  nlohmann::ordered_json object{{"inserted", counts_.inserted},
                                {"duplicates", counts_.duplicates},
                                {"conflicts", counts_.conflicts},
                                {"refused", counts_.refused},
                                {"complete", complete}};
  if (!complete) object["resume_line"] = lines_.front();
  print_line(object.dump());
}

/// The batch under way was not written, all before it was.
int PutJob::stopped(const StorageError& error) {
  clear_progress();
  print_json(false);
  const std::string line = std::to_string(lines_.front());
  std::fprintf(stderr, "waybill put: %s\n%s; go on from line %s, as with: tail -n +%s FILE | waybill put ...\n",
               error.what(), summary().c_str(), line.c_str(), line.c_str());
  if (error.code() == ErrorCode::outcome_unknown)
    std::fputs("whether the last batch was written is not known; putting it again does no harm\n", stderr);
  return kFailed;
}

int PutJob::run() {
  try {
    read_all();
  } catch (const StorageError& error) {
    if (lines_.empty()) throw;
    return stopped(error);
  } catch (const std::system_error&) {  // the input broke off: what was read is kept
    flush();
    clear_progress();
    session_.tell(summary());
    throw;
  }
  clear_progress();
  session_.tell(summary());
  print_json(true);
  return counts_.conflicts + counts_.refused > 0 ? kNotAccepted : kDone;
}

}  // namespace

Action define_put(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PutOptions>();
  app.add_option("FILE", options->file, "NDJSON file; - is standard input")->capture_default_str();
  app.add_option("--format", options->format, "what a line is: events or cloudevents")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"events", "cloudevents"}))
      ->capture_default_str();
  add_count(app, "--batch", options->batch, "events in one transaction", {1, 10000});
  app.footer(kExamples);
  return [options, &session] { return PutJob{*options, session}.run(); };
}

}  // namespace waybill::cli
