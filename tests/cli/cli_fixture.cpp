#include "cli/cli_fixture.hpp"

#include <sstream>

#include "waybill/backends/builtin.hpp"

namespace waybill::test {

ProcessResult Cli::run(const std::vector<std::string>& words, const std::string& input,
                       const std::filesystem::path& output) const {
  ProcessOptions options;
  options.program = WAYBILL_COMMAND;
  options.arguments = words;
  options.directory = dir_.path();
  options.output = output;
  return run_process(options, input, dir_.path());
}

ProcessResult Cli::on_store(std::vector<std::string> words, const std::string& input) const {
  words.insert(words.end(), {"--store", "sqlite:a.db"});
  return run(words, input);
}

std::string Cli::ok(const std::vector<std::string>& words, const std::string& input) const {
  const ProcessResult result = on_store(words, input);
  INFO("waybill " << words.front() << ": " << result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

std::unique_ptr<Process> Cli::start(std::vector<std::string> words) const {
  words.insert(words.end(), {"--store", "sqlite:a.db"});
  ProcessOptions options;
  options.program = WAYBILL_COMMAND;
  options.arguments = std::move(words);
  options.directory = dir_.path();
  options.output = path("out");
  options.errors = path("err");
  return std::make_unique<Process>(options);
}

void Cli::put(const std::vector<Json>& events) const { (void)ok({"put"}, ndjson(events)); }

std::unique_ptr<IEventRepository> Cli::open() const {
  BackendRegistry stores{"store"};
  register_builtin_backends(stores);
  return stores.open("sqlite:" + path("a.db").string());
}

void Cli::fail_all(const std::string& reason, std::optional<Duration> again) const {
  const auto store = open();
  ClaimRequest request;
  request.owner = "test";
  request.limit = 1000;
  const ClaimResult claimed = store->claim(request);
  std::vector<Settlement> settlements;
  for (const Event& event : claimed.events) {
    Settlement settlement{token_of(event), Command::fail, std::nullopt, reason, false};
    if (again) settlement.next_retry_time = store->now() + *again;
    settlements.push_back(std::move(settlement));
  }
  for (const SettleStatus status : store->settle(settlements)) REQUIRE(status == SettleStatus::applied);
}

Json event_json(const std::string& event_no, const std::string& aggregate_id) {
  return {{"event_no", event_no},       {"aggregate_type", "ORDER"}, {"aggregate_id", aggregate_id},
          {"event_type", "ORDER_PAID"}, {"topic", "order.paid"},     {"event_payload", {{"no", event_no}}}};
}

std::string ndjson(const std::vector<Json>& events) {
  std::string text;
  for (const Json& event : events) text += event.dump() + "\n";
  return text;
}

std::vector<Json> parse_lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<std::string> column(const std::vector<Json>& lines, const std::string& key) {
  std::vector<std::string> values;
  for (const Json& line : lines) {
    const Json& value = line.at(key);
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return values;
}

}  // namespace waybill::test
