// Events against the server's max_allowed_packet.

#include "mysql/mysql_fixture.hpp"
#include "waybill/backends/mysql_outbox.hpp"

namespace waybill::test {
namespace {

constexpr std::size_t kPacket = 1U << 20;

NewEvent event_of(const std::string& event_no, std::size_t bytes) {
  NewEvent event = make_event(event_no);
  event.event_payload = "\"" + std::string(bytes - 2, 'x') + "\"";
  return event;
}

/// The text of the InvalidEvent that it throws.
template <class Work>
std::string refusal_of(Work work) {
  try {
    work();
  } catch (const InvalidEvent& error) {
    CHECK(error.field() == "event_payload");
    return error.what();
  }
  return "not refused";
}

TEST_CASE_METHOD(OnPrivateServers, "an event larger than the server's packet is named, and the others go in",
                 "[packet]") {
  const GlobalSetting packet(server, "max_allowed_packet", std::to_string(kPacket));
  options.limits.max_payload_bytes = 8 * kPacket;
  const auto store = open();
  const std::vector<NewEvent> batch{event_of("small", 100), event_of("huge", 2 * kPacket), event_of("other", 100)};
  const std::string refusal = refusal_of([&] { (void)store->append(batch); });
  for (const char* name : {"huge", "max_allowed_packet", "1048576", "2097152"})
    CHECK_THAT(refusal, Catch::Contains(name));
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event") == "0");
  for (const NewEvent& event : {batch[0], batch[2], event_of("just", kPacket - 5000)})
    CHECK(append(*store, event) == AppendStatus::inserted);
  CHECK(store->find("just")->event_payload.size() == kPacket - 5000);
  CHECK(store->claim(claim_request()).events.size() == 3);
}

TEST_CASE_METHOD(OnPrivateServers, "a batch larger than the server's packet goes in by parts", "[packet]") {
  const GlobalSetting packet(server, "max_allowed_packet", std::to_string(kPacket));
  const auto store = open();
  std::vector<NewEvent> batch;
  for (int number = 1; number <= 300; ++number) batch.push_back(event_of("e" + std::to_string(number), 10240));
  std::int64_t last = 0;
  for (const AppendResult& result : store->append(batch)) {
    CHECK(result.status == AppendStatus::inserted);
    CHECK(result.id > last);
    last = result.id;
  }
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event") == "300");
  for (const AppendResult& result : store->append(batch)) CHECK(result.status == AppendStatus::duplicate);
}

TEST_CASE_METHOD(OnPrivateServers, "an event larger than the server's packet leaves the caller's transaction usable",
                 "[packet]") {
  const GlobalSetting packet(server, "max_allowed_packet", std::to_string(kPacket));
  PlainClient program(options);
  MysqlOutbox::Options wide;
  wide.limits.max_payload_bytes = 8 * kPacket;
  MysqlOutbox outbox(program.handle(), wide);
  program.run("START TRANSACTION");
  CHECK_THAT(refusal_of([&] { (void)outbox.append(event_of("huge", 2 * kPacket)); }), Catch::Contains("huge"));
  CHECK(outbox.append(event_of("small", 100)).status == AppendStatus::inserted);
  program.run("COMMIT");
  CHECK(value("SELECT COUNT(*) FROM biz_outbox_event") == "1");
}

}  // namespace
}  // namespace waybill::test
