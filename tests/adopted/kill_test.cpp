// A relay on a user's table, killed again and again: nothing is lost, every row ends delivered, order holds.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <set>

#include "adopted/command.hpp"
#include "crash/audit.hpp"
#include "crash/chance.hpp"

namespace waybill::test {
namespace {

constexpr int kRounds = 6;
constexpr int kRowsARound = 60;
constexpr int kAggregates = 5;

/// One of the seeds' tables and how a program of the user's writes to it.
struct Ledger {
  const char* table;
  bool ordered;
  std::function<void(Shop&)> create;
  std::function<void(Shop&, int)> insert;
  const char* undelivered;  ///< counts rows that do not say "delivered"
};

void insert_message(Shop& shop, int number) {
  const std::string id = std::to_string(number);
  const std::string values = id + ", 'e" + id + "', 'ORDER_PAID', 'ORDER', '" + std::to_string(number % kAggregates) +
                             "', 'order-service', '{\"n\": " + id + "}', 1000)";
  shop.run(
      "INSERT INTO biz_message_event (id, event_no, event_type, biz_type, biz_id, event_source, event_payload, "
      "max_retry_count) VALUES (" +
      values);
}

const std::vector<Ledger>& ledgers() {
  static const std::vector<Ledger> all{
      {"outbox", true, create_local_message_table,
       [](Shop& shop, int number) { (void)place_order(shop, std::to_string(number % kAggregates)); },
       "SELECT COUNT(*) FROM outbox WHERE status <> 'SENT'"},
      {"domain_event_outbox", false, create_domain_event_table,
       [](Shop& shop, int number) {
         record_event(shop, "e" + std::to_string(number), std::to_string(number % kAggregates));
       },
       "SELECT COUNT(*) FROM domain_event_outbox WHERE status <> 1"},
      {"biz_message_event", true, [](Shop&) {}, insert_message,
       "SELECT COUNT(*) FROM biz_message_event WHERE event_status <> 2"}};
  return all;
}

/// Relays that append to one file, one after the other.
class Relays {
 public:
  Relays(const Command& command, bool ordered)
      : command_(command),
        ordered_(ordered),
        output_(::open(path().c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {}
  ~Relays() { ::close(output_); }
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;

  [[nodiscard]] std::unique_ptr<Process> start(const Words& more = {}) {
    Words words{"relay",
                "--to",
                "stdout:?format=event",
                "--owner",
                "relay-" + std::to_string(++count_),
                "--batch",
                "5",
                "--lease",
                "500ms",
                "--poll",
                "20ms",
                "--recovery",
                "50ms",
                "--order",
                ordered_ ? "aggregate" : "none",
                "--retry",
                "10ms"};
    words.insert(words.end(), more.begin(), more.end());
    ProcessOptions options = command_.words(words);
    options.output_fd = output_;
    options.errors = command_.path("relay.err");
    return std::make_unique<Process>(options);
  }
  [[nodiscard]] std::size_t lines() const {
    const std::string text = read_file(path());
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  [[nodiscard]] std::filesystem::path path() const { return command_.path("deliveries"); }

 private:
  const Command& command_;
  bool ordered_;
  int output_;
  int count_{0};
};

void audit(Shop& shop, const Ledger& ledger, const std::string& text, std::size_t rows) {
  const Output output = read_output(text, true);
  CHECK(numbers_of(output.deliveries).size() == rows);
  CHECK(shop.value(ledger.undelivered) == "0");
  if (ledger.ordered) CHECK(order_breaks(output.deliveries) == std::vector<std::string>{});
  CHECK(repeats_within_a_claim(output.deliveries) == std::vector<std::string>{});
  std::cout << ledger.table << ": " << count_repeats(output.deliveries) << " deliveries repeated" << std::endl;
}

TEST_CASE_METHOD(InShops, "kills: relays on a user's table lose nothing, every row ends delivered, in order if asked") {
  const Ledger& ledger = ledgers()[GENERATE(range(std::size_t{0}, std::size_t{3}))];
  INFO("table: " << ledger.table);
  Chance chance{std::string("kills on ") + ledger.table};
  TableModel model = model_of(ledger.table);
  if (model.columns.count("max_retry_count") == 0) model.constants["max_retry_count"] = "1000";  // kills are attempts
  ledger.create(*shop);
  Command command{*shop};
  command.configure(model);
  (void)command.ok({"init"});
  Relays relays{command, ledger.ordered};
  int rows = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto relay = relays.start();
    const std::size_t before = relays.lines();
    const auto enough = before + static_cast<std::size_t>(chance.between(1, kRowsARound / 2));
    for (int i = 0; i < kRowsARound; ++i) ledger.insert(*shop, ++rows);
    INFO(read_file(command.path("relay.err")));
    REQUIRE(eventually([&] { return relays.lines() >= enough; }));
    relay->signal(SIGKILL);
    CHECK(relay->wait().signal == SIGKILL);
  }
  REQUIRE(eventually([&] {  // what the last one held comes back after its lease
    const ProcessEnd end = relays.start({"--drain"})->wait();
    INFO(read_file(command.path("relay.err")));
    REQUIRE(end.exit_code == 0);
    return shop->value(ledger.undelivered) == "0";
  }));
  audit(*shop, ledger, read_file(relays.path()), static_cast<std::size_t>(rows));
}

}  // namespace
}  // namespace waybill::test
