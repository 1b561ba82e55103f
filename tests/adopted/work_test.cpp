// `waybill work`: a program for each message.

#include "adopted/command.hpp"

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

class Working : public InShops {
 protected:
  Working() : command(*shop) {}
  void add_message(const std::string& number, int most_tries = 3) {
    shop->run(
        "INSERT INTO biz_message_event (id, event_no, event_type, biz_type, biz_id, event_source, event_payload, "
        "max_retry_count) VALUES (" +
        number + ", 'M" + number + "', 'ORDER_PAID', 'ORDER', 'B" + number + "', 'shop', '{\"n\": " + number + "}', " +
        std::to_string(most_tries) + ")");
  }
  /// A shell script; returns what to say to --exec.
  std::string handler(const std::string& script) {
    write_file(command.path("handler"), "#!/bin/sh\n" + script);
    std::filesystem::permissions(command.path("handler"), std::filesystem::perms::owner_all);
    return "./handler";
  }
  /// Handles what is due now.
  ProcessResult work(const std::string& script, Words more = {}) {
    Words words{"work", "--drain", "--exec", handler(script), "--retry", "1h"};
    words.insert(words.end(), more.begin(), more.end());
    ProcessResult result = command.run(std::move(words));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return result;
  }
  std::string message(const std::string& columns) {
    return shop->value("SELECT " + columns + " FROM biz_message_event ORDER BY id LIMIT 1");
  }

  Command command;
};

TEST_CASE_METHOD(Working, "work: the program gets each message, and status 0 says it is done") {
  add_message("1");
  add_message("2");
  const ProcessResult result = work(
      "cat >> seen\necho \"$WAYBILL_EVENT_NO $WAYBILL_EVENT_TYPE $WAYBILL_AGGREGATE_TYPE $WAYBILL_AGGREGATE_ID "
      "$WAYBILL_ATTEMPT\" >> environment\n",
      {"--format", "payload", "--order", "aggregate"});
  CHECK_THAT(result.err, Contains("delivered 2, failed 0"));
  CHECK(Json::parse(read_file(command.path("seen")).substr(0, read_file(command.path("seen")).find('\n'))) ==
        Json{{"n", 1}});
  CHECK(read_file(command.path("environment")) == "M1 ORDER_PAID ORDER B1 1\nM2 ORDER_PAID ORDER B2 1\n");
  CHECK(shop->value("SELECT COUNT(*) FROM biz_message_event WHERE event_status = 2 AND success_time IS NOT NULL") ==
        "2");
}

TEST_CASE_METHOD(Working, "work: status 75 is tried again later, and what the program wrote is the reason") {
  add_message("1");
  const std::string other = GENERATE("retry", "reject");
  (void)work("echo 'the stock is busy' >&2\nexit 75\n", {"--other", other});
  CHECK(message("event_status, retry_count, next_retry_time IS NULL") == "3|1|0");
  CHECK_THAT(message("fail_reason"), Contains("75") && Contains("the stock is busy"));
}

TEST_CASE_METHOD(Working, "work: any other status is as --other says, tried again or dead at once") {
  add_message("1");
  SECTION("retry, without being told") {
    (void)work("echo no such order; exit 3\n");
    CHECK(message("event_status, retry_count, next_retry_time IS NULL") == "3|1|0");
  }
  SECTION("reject") {
    (void)work("echo no such order; exit 3\n", {"--other", "reject"});
    CHECK(message("event_status, retry_count, next_retry_time IS NULL") == "3|1|1");
  }
  CHECK_THAT(message("fail_reason"), Contains("no such order"));
}

TEST_CASE_METHOD(Working, "work: a program that takes too long is killed and tried again") {
  add_message("1");
  const auto begun = std::chrono::steady_clock::now();
  (void)work("echo waiting\nexec sleep 60\n", {"--timeout", "300ms", "--other", "reject"});
  CHECK(std::chrono::steady_clock::now() - begun < 30s);
  CHECK(message("event_status, retry_count, next_retry_time IS NULL") == "3|1|0");
  INFO(message("fail_reason"));
  CHECK_THAT(message("fail_reason"), Contains("300ms"));
}

TEST_CASE_METHOD(Working, "work: the last failure leaves a dead message, which retry hands out again") {
  add_message("1", 1);
  (void)work("exit 1\n");
  CHECK(message("event_status, retry_count") == "3|1");
  CHECK(Json::parse(command.ok({"stats", "--json"}, "table=biz_message_event")).at("dead") == 1);
  (void)work("exit 0\n");
  CHECK(message("event_status") == "3");
  (void)command.ok({"retry", "M1"}, "table=biz_message_event");
  (void)work("exit 0\n");
  CHECK(message("event_status") == "2");
}

TEST_CASE_METHOD(Working, "work: another table by its name in the URL") {
  create_local_message_table(*shop);
  (void)command.ok({"init"}, "table=outbox");
  (void)place_order(*shop, "7");
  (void)command.ok({"work", "--drain", "--exec", handler("echo $WAYBILL_AGGREGATE_ID > seen\n")}, "table=outbox");
  CHECK(read_file(command.path("seen")) == "7\n");
  CHECK(shop->value("SELECT status FROM outbox") == "SENT");
}

TEST_CASE_METHOD(Working, "work: without a program, or with one that is not there, nothing is lost") {
  add_message("1");
  const ProcessResult none = command.run({"work", "--drain"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("which program? Say --exec PROGRAM"));
  const ProcessResult missing = command.run({"work", "--drain", "--exec", "./nobody", "--retry", "1h"});
  INFO(missing.err);
  CHECK(missing.exit_code != 0);
  CHECK_THAT(missing.err, Contains("nobody"));
  CHECK(message("event_status, retry_count") == "0|0");
}

}  // namespace
}  // namespace waybill::test
