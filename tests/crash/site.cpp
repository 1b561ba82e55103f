#include "site.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <sstream>

#include "support/catch.hpp"

namespace waybill::test {
namespace {

using Json = nlohmann::json;

// Longer than a frozen relay may hold the write lock.
constexpr const char* kUrlOptions = "?busy_timeout=30s";

}  // namespace

Site::Site(std::filesystem::path folder) {
  if (folder.empty()) folder = scratch_.path();
  database_ = folder / "events.db";
  store_.text = "sqlite:" + database_.string() + kUrlOptions;
  run({"init"});
}

Site::Site(StoreUrl store) : store_(std::move(store)) { run({"init"}); }

ProcessOptions Site::verb(Words words) const {
  ProcessOptions options;
  options.program = WAYBILL_COMMAND;
  options.arguments = std::move(words);
  options.arguments.insert(options.arguments.begin() + 1, {"--store", store_.text});
  options.directory = folder();
  return options;
}

ProcessResult Site::try_run(Words words, const std::string& input) const {
  const TempDir streams{"run", folder()};
  return run_process(verb(std::move(words)), input, streams.path());
}

std::string Site::run(Words words, const std::string& input) const {
  std::string said;
  for (const std::string& word : words) said += " " + word;
  const ProcessResult result = try_run(std::move(words), input);
  INFO("waybill" << said << "\n" << result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

Books Site::books() const {
  const Json answer = Json::parse(run({"stats", "--json"}));
  const Json& states = answer.at("by_status");
  Books books;
  books.pending = states.at("pending");
  books.in_progress = states.at("in_progress");
  books.succeeded = states.at("succeeded");
  books.failed = states.at("failed");
  books.cancelled = states.at("cancelled");
  books.dead = answer.at("dead");
  books.archived = answer.at("archived");
  books.purged = answer.at("purged");
  books.dropped = answer.at("dropped");
  return books;
}

std::vector<Json> Site::list() const {
  std::istringstream lines{run({"list", "--json", "--limit", "0"})};
  std::vector<Json> events;
  for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
  return events;
}

ProcessOptions Site::relay(const std::string& name, Words words) const {
  // All columns: who claimed the line's event, when, and for the how-manieth time.
  words.insert(words.begin(), {"relay", "--to", "stdout:?format=event", "--owner", name, "--json"});
  ProcessOptions options = verb(std::move(words));
  options.output = output_of(name);
  options.errors = errors_of(name);
  return options;
}

std::string Site::drain(const std::string& name, Words words) const {
  words.insert(words.begin(), "--drain");
  std::string output;
  // Events under a lease are not due; the next round has them.
  const bool done = eventually([&] {
    Process process{relay(name, words)};
    const ProcessEnd end = process.wait();
    INFO(read_file(errors_of(name)));
    REQUIRE(end.exit_code == 0);
    output += read_file(output_of(name));
    return books().unfinished() == 0;
  });
  REQUIRE(done);
  return output;
}

void Site::check_file_is_sound() const {
  if (database_.empty()) return;
  SQLite::Database database{database_.string()};
  CHECK(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

Json input_event(const std::string& event_no, const std::string& aggregate_id, std::size_t payload_bytes) {
  // Leases that ran out count as attempts: a budget that no test uses up.
  return Json{{"event_no", event_no},
              {"aggregate_type", "ORDER"},
              {"aggregate_id", aggregate_id},
              {"event_type", "ORDER_CHANGED"},
              {"max_retry_count", 1000},
              {"event_payload", {{"number", event_no}, {"text", std::string(payload_bytes, 'x')}}}};
}

std::string to_lines(const std::vector<Json>& events) {
  std::string text;
  for (const Json& event : events) text += event.dump() + "\n";
  return text;
}

std::vector<Json> input_events(std::size_t count, std::size_t aggregates, std::size_t payload_bytes) {
  std::vector<Json> events;
  for (std::size_t number = 1; number <= count; ++number)
    events.push_back(
        input_event("e" + std::to_string(number), "a" + std::to_string(number % aggregates), payload_bytes));
  return events;
}

}  // namespace waybill::test
