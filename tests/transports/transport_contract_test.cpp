// What every ITransport must do, whatever it delivers to. A new transport adds a bed to beds() and nothing else.

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "transports/sample_events.hpp"
#include "waybill/transports/exec.hpp"
#include "waybill/transports/handler.hpp"
#include "waybill/transports/stdout.hpp"

namespace waybill::test {
namespace {

constexpr Duration kBudget = std::chrono::seconds{10};
/// The payload that no transport of these beds can deliver.
constexpr const char* kPoison = "{";

std::vector<std::string> numbers_in(const std::filesystem::path& file) {
  std::vector<std::string> numbers;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);)
    numbers.push_back(nlohmann::json::parse(line).at("event_no").get<std::string>());
  return numbers;
}

/// A transport with a destination that tells what arrived.
class Bed {
 public:
  virtual ~Bed() = default;
  [[nodiscard]] virtual ITransport& transport() = 0;
  /// Event numbers in the order of their arrival.
  [[nodiscard]] virtual std::vector<std::string> arrived() = 0;
};

class LineBed final : public Bed {
 public:
  LineBed()
      : file_(dir_.path() / "out.ndjson"),
        fd_(::open(file_.c_str(), O_WRONLY | O_CREAT, 0600)),
        transport_(make_line_transport(std::make_shared<LineSink>(fd_), LineFormat::event)) {}
  ~LineBed() override { ::close(fd_); }

  [[nodiscard]] ITransport& transport() override { return *transport_; }
  [[nodiscard]] std::vector<std::string> arrived() override { return numbers_in(file_); }

 private:
  TempDir dir_;
  std::filesystem::path file_;
  int fd_;
  std::unique_ptr<ITransport> transport_;
};

class HandlerBed final : public Bed {
 public:
  HandlerBed() {
    auto handlers = std::make_shared<HandlerMap>();
    handlers->add("*", [this](const Event& event) {
      if (event.event_payload == kPoison) throw std::runtime_error("poison");
      arrived_.push_back(event.event_no);
    });
    transport_ = make_handler_transport(handlers);
  }

  [[nodiscard]] ITransport& transport() override { return *transport_; }
  [[nodiscard]] std::vector<std::string> arrived() override { return arrived_; }

 private:
  std::vector<std::string> arrived_;
  std::unique_ptr<ITransport> transport_;
};

/// A shell that appends its input to a file.
class ExecBed final : public Bed {
 public:
  ExecBed() : file_(dir_.path() / "out.ndjson") {
    ExecOptions options;
    options.command = {"sh", "-c", "cat >> '" + file_.string() + "'"};
    options.format = LineFormat::event;
    transport_ = make_exec_transport(options);
  }

  [[nodiscard]] ITransport& transport() override { return *transport_; }
  [[nodiscard]] std::vector<std::string> arrived() override { return numbers_in(file_); }

 private:
  TempDir dir_;
  std::filesystem::path file_;
  std::unique_ptr<ITransport> transport_;
};

struct BedKind {
  const char* name;
  std::function<std::unique_ptr<Bed>()> make;
};

std::vector<BedKind> beds() {
  return {{"exec", [] { return std::make_unique<ExecBed>(); }},
          {"line", [] { return std::make_unique<LineBed>(); }},
          {"handler", [] { return std::make_unique<HandlerBed>(); }}};
}

/// Runs the check over every transport, each in a section of its own.
void for_each_bed(const std::function<void(Bed&)>& check) {
  for (const BedKind& kind : beds()) {
    DYNAMIC_SECTION(kind.name) {
      const auto bed = kind.make();
      check(*bed);
    }
  }
}

std::vector<Outcome::Kind> kinds(const std::vector<Outcome>& outcomes) {
  std::vector<Outcome::Kind> list;
  for (const Outcome& outcome : outcomes) list.push_back(outcome.kind);
  return list;
}

using Kinds = std::vector<Outcome::Kind>;
using Names = std::vector<std::string>;
constexpr auto kDelivered = Outcome::Kind::delivered;
constexpr auto kNotAttempted = Outcome::Kind::not_attempted;

TEST_CASE("a transport gives one outcome per event and keeps their order") {
  for_each_bed([](Bed& bed) {
    const std::vector<Event> events{sample_event("1", "A"), sample_event("2", "B"), sample_event("3", "A"),
                                    sample_event("4", "C"), sample_event("5", "B")};
    CHECK(kinds(bed.transport().deliver(events, kBudget)) == Kinds(5, kDelivered));
    CHECK(bed.arrived() == Names{"1", "2", "3", "4", "5"});
    CHECK(bed.transport().finished().empty());
  });
}

TEST_CASE("an empty batch has no outcomes") {
  for_each_bed([](Bed& bed) {
    CHECK(bed.transport().deliver({}, kBudget).empty());
    CHECK(bed.arrived().empty());
  });
}

TEST_CASE("after an event that was not delivered the rest of its aggregate is not attempted, the others are") {
  for_each_bed([](Bed& bed) {
    const std::vector<Event> events{sample_event("1", "A"), sample_event("2", "B"), sample_event("3", "A", kPoison),
                                    sample_event("4", "A"), sample_event("5", "B"), sample_event("6", "A", kPoison)};
    const auto outcomes = bed.transport().deliver(events, kBudget);
    REQUIRE(outcomes.size() == events.size());
    CHECK(outcomes[0].kind == kDelivered);
    CHECK(outcomes[1].kind == kDelivered);
    CHECK((outcomes[2].kind == Outcome::Kind::retry || outcomes[2].kind == Outcome::Kind::rejected));
    CHECK(outcomes[3].kind == kNotAttempted);
    CHECK(outcomes[4].kind == kDelivered);
    CHECK(outcomes[5].kind == kNotAttempted);
    CHECK(bed.arrived() == Names{"1", "2", "5"});
  });
}

TEST_CASE("the same id in another aggregate type is another aggregate") {
  for_each_bed([](Bed& bed) {
    std::vector<Event> events{sample_event("1", "A", kPoison), sample_event("2", "A")};
    events[1].aggregate_type = "PAYMENT";
    CHECK(bed.transport().deliver(events, kBudget)[1].kind == kDelivered);
  });
}

TEST_CASE("every event that was not delivered has a reason without the payload") {
  for_each_bed([](Bed& bed) {
    const std::vector<Event> events{sample_event("1", "A", kPoison), sample_event("2", "A", R"({"card":"4711"})")};
    for (const Outcome& outcome : bed.transport().deliver(events, kBudget)) {
      CHECK_FALSE(outcome.reason.empty());
      CHECK(outcome.reason.find("4711") == std::string::npos);
    }
  });
}

TEST_CASE("a failure does not outlive its batch") {
  for_each_bed([](Bed& bed) {
    (void)bed.transport().deliver(std::vector{sample_event("1", "A", kPoison)}, kBudget);
    const auto outcomes = bed.transport().deliver(std::vector{sample_event("2", "A")}, kBudget);
    CHECK(kinds(outcomes) == Kinds{kDelivered});
    CHECK(bed.arrived() == Names{"2"});
  });
}

}  // namespace
}  // namespace waybill::test
