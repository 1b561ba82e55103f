// The program behind the relay's pipe dies.

#include <algorithm>

#include "crash/audit.hpp"
#include "crash/pipe.hpp"
#include "crash/site.hpp"
#include "support/catch.hpp"

namespace waybill::test {
namespace {

TEST_CASE("a relay whose reader dies says so and ends, and the next one delivers the rest") {
  const Site site;
  constexpr std::size_t kEvents = 300;
  constexpr std::size_t kBatch = 25;
  site.run({"put"}, to_lines(input_events(kEvents, 20, 600)));
  Pipe pipe{4096};
  ProcessOptions options = site.relay("first", {"--batch", std::to_string(kBatch), "--order", "aggregate"});
  options.output_fd = pipe.writer();
  Process relay{options};
  pipe.close_writer();
  std::string received;
  while (std::count(received.begin(), received.end(), '\n') < 60)
    REQUIRE(pipe.read_some(received, std::chrono::seconds{30}));
  pipe.close_reader();

  const ProcessEnd end = relay.wait();
  const std::string errors = read_file(site.errors_of("first"));
  INFO(errors);
  CHECK(end.exit_code == 1);
  CHECK_THAT(errors, Catch::Contains("waybill relay: the reader of standard output is gone; "
                                     "what was not delivered is kept"));
  const Books books = site.books();
  CHECK(books.accepted() == kEvents);
  CHECK(books.in_progress == 0);
  CHECK(books.succeeded + books.pending == kEvents);
  for (const auto& event : site.list()) CHECK(event.at("retry_count") == 0);

  const Output first = read_output(received);
  const Output second = read_output(site.drain("second", {"--order", "aggregate"}));
  CHECK(second.deliveries.size() == books.pending);
  CHECK(count_repeats(second.deliveries) == 0);
  // Lost with its reader is what the pipe itself held and what was read of the last line; nothing can know that.
  std::set<std::string> seen = numbers_of(first.deliveries);
  seen.merge(numbers_of(second.deliveries));
  CHECK(seen.size() + static_cast<std::size_t>(4096 / 600) + 1 >= kEvents);
  CHECK(first.deliveries.size() + second.deliveries.size() <= kEvents + kBatch);
}

}  // namespace
}  // namespace waybill::test
