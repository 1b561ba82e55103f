// The command on a user's table: the [table] section, init, and what each verb says.

#include "adopted/command.hpp"
#include "waybill/url.hpp"
#ifdef WAYBILL_WITH_MYSQL
#include "support/plain_client.hpp"
#endif

namespace waybill::test {
namespace {

using Catch::Matchers::Contains;

class OnTable : public InShops {
 protected:
  OnTable() : command(*shop) { create_local_message_table(*shop); }
  /// The table by its name in the URL.
  std::string ok(Words words) { return command.ok(std::move(words), "table=outbox"); }
  Json json(Words words) {
    words.push_back("--json");
    return Json::parse(ok(std::move(words)));
  }

  Command command;
};

TEST_CASE_METHOD(OnTable, "a table described in the file is delivered from, and its rows say so") {
  command.configure(R"([table]
name = "outbox"
filter = "t.business_id <> 'test'"
[table.columns]
aggregate_id = "business_id"
event_type = "message_type"
event_payload = "payload"
publish_status = "status"
[table.constants]
topic = "orders"
aggregate_type = "ORDER"
[table.status]
pending = "PENDING"
succeeded = ["SENT", "CONFIRMED"]
failed = "FAILED"
)");
  (void)command.ok({"init"});
  (void)place_order(*shop, "7", R"({"order": 7})");
  (void)place_order(*shop, "test");
  const std::string out = command.ok({"relay", "--to", "stdout:?format=event", "--drain"});
  const Json event = Json::parse(out);
  CHECK(event.at("event_no") == "outbox:1");
  CHECK(event.at("topic") == "orders");
  CHECK(event.at("aggregate_type") == "ORDER");
  CHECK(event.at("aggregate_id") == "7");
  CHECK(shop->rows("SELECT status FROM outbox ORDER BY id") == Rows{"SENT", "PENDING"});
}

TEST_CASE_METHOD(OnTable, "verbs list, show, count, retry and cancel the rows of the table") {
  ok({"init"});
  for (const char* order : {"A", "B", "C"}) (void)place_order(*shop, order);
  CHECK(json({"stats"}).at("by_status").at("pending") == 3);
  CHECK_THAT(ok({"list"}), Contains("outbox:1") && Contains("outbox:3"));
  CHECK_THAT(ok({"show", "outbox:2"}), Contains("outbox:2") && Contains("ORDER_CREATED"));
  CHECK(command.run({"show", "outbox:9"}, "table=outbox").exit_code == 1);
  CHECK(command.run({"check", "--backlog-warn", "2"}, "table=outbox").exit_code == 1);
  ok({"cancel", "outbox:1", "--reason", "not wanted"});
  ok({"relay", "--drain", "--to", "exec:/bin/false?other=reject"});
  CHECK(json({"stats"}).at("dead") == 2);
  CHECK(shop->rows("SELECT status, retry_count FROM outbox ORDER BY id") == Rows{"FAILED|0", "FAILED|1", "FAILED|1"});
  ok({"retry", "outbox:2"});
  ok({"relay", "--drain", "--to", "stdout:"});
  CHECK(shop->rows("SELECT status FROM outbox ORDER BY id") == Rows{"FAILED", "SENT", "FAILED"});
  CHECK_THAT(ok({"list", "--status", "dead"}), Contains("outbox:3") && !Contains("outbox:2"));
  const ProcessResult doctor = command.run({"doctor"}, "table=outbox");
  INFO(doctor.out << doctor.err);
  CHECK_THAT(doctor.out, Contains("idx_status_create finds new rows"));
}

TEST_CASE_METHOD(OnTable, "archive is refused with its reason, and purge where no column tells the time") {
  create_domain_event_table(*shop);
  ok({"init"});
  (void)place_order(*shop);
  ok({"relay", "--drain", "--to", "stdout:"});
  const ProcessResult archive = command.run({"archive", "--older-than", "1s"}, "table=outbox");
  CHECK(archive.exit_code == 1);
  CHECK_THAT(archive.err, Contains("table 'outbox' has no archive; `waybill purge` removes its old finished rows"));
  ok({"purge", "--before", "2100-01-01T00:00:00Z"});
  CHECK(shop->value("SELECT COUNT(*) FROM outbox") == "0");
  CHECK(json({"stats"}).at("purged") == 1);

  TableModel events = model_of("domain_event_outbox");
  events.delivery_table = "event_delivery";
  command.configure(events);
  (void)command.ok({"init"});
  record_event(*shop, "E1");
  (void)command.ok({"relay", "--drain", "--to", "stdout:"});
  const ProcessResult purge = command.run({"purge", "--before", "2100-01-01T00:00:00Z"});
  CHECK(purge.exit_code == 1);
  CHECK_THAT(purge.err, Contains("no column that says when a row was finished; map update_time or published_time"));
  CHECK(shop->value("SELECT COUNT(*) FROM domain_event_outbox") == "1");
}

TEST_CASE_METHOD(OnTable, "a table's name that nobody knows is wrong usage, and so is one that has no delivery table") {
  const ProcessResult unknown = command.run({"stats"}, "table=outbx");
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("table=outbx: waybill knows biz_outbox_event, biz_message_event, "
                                   "domain_event_outbox, outbox; describe any other in the [table] section"));
  const ProcessResult not_ready = command.run({"stats"}, "table=outbox");
  CHECK(not_ready.exit_code == 1);
  CHECK_THAT(not_ready.err, Contains("has no waybill_delivery beside it; create it with `waybill init`"));
}

TEST_CASE_METHOD(OnTable, "what is wrong in the table section is told with file and line") {
  const std::string good = toml_of(model_of("outbox"));
  struct Mistake {
    const char* instead_of;
    const char* text;
    const char* told;
  };
  for (const Mistake& mistake :
       {Mistake{"name = \"outbox\"", "nme = \"outbox\"", "unknown key in [table] 'nme'; did you mean 'name'?"},
        Mistake{"pending = ", "pendng = ", "unknown key in [table.status] 'pendng'; did you mean 'pending'?"},
        Mistake{"event_payload = ", "event_paylod = ", "unknown column of biz_outbox_event 'event_paylod'; did you"},
        Mistake{"[table.constants]\n", "[table.constants]\nevent_type = \"x\"\n",
                "event_type is both a column and a constant; leave one out"},
        Mistake{"\"SENT\"", "2", "status values must be all numbers or all texts"},
        Mistake{"\"SENT\"", "\"PENDING\"", "status: 'PENDING' means finished and unfinished at once"},
        Mistake{"\"SENT\",", "", "say which values mean pending and succeeded"},
        Mistake{"\"SENT\"", "\"SE'NT\"", "is no value that waybill can compare with"},
        Mistake{"\"payload\"", "\"pay load\"", "can't be the name of a table or column"},
        Mistake{"publish_status = \"status\"\n", "", "say which column is the publish_status"},
        Mistake{"filter = \"\"", "filter = \"t.a = ?\"", "filter: no braces or question marks"},
        Mistake{"[table.status]", "[table.statuses]", "unknown key in [table] 'statuses'; did you mean 'status'?"}}) {
    std::string toml = good;
    REQUIRE(toml.find(mistake.instead_of) != std::string::npos);
    toml.replace(toml.find(mistake.instead_of), std::string(mistake.instead_of).size(), mistake.text);
    command.configure(toml);
    const ProcessResult result = command.run({"stats"});
    INFO(mistake.text << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("table.toml:") && Contains(mistake.told));
  }
}

/// Two processes that do the same at the same time; both must end well.
void init_twice_at_once(const Command& command, const std::string& query) {
  Process one(command.words({"init"}, query));
  Process two(command.words({"init"}, query));
  CHECK(one.wait().exit_code == 0);
  CHECK(two.wait().exit_code == 0);
}

TEST_CASE_METHOD(InBareShops, "init by two processes at once, on an empty database: both end well, and it works") {
  const Command command(*shop);
  init_twice_at_once(command, "");
  init_twice_at_once(command, "");
  CHECK_THAT(command.ok({"stats"}), Contains("pending"));
}

TEST_CASE_METHOD(InBareShops, "init by two processes at once, on a user's table: both end well, and it works") {
  create_local_message_table(*shop);
  (void)place_order(*shop);
  const Command command(*shop);
  init_twice_at_once(command, "table=outbox");
  CHECK_THAT(command.ok({"relay", "--drain", "--to", "stdout:"}, "table=outbox"), Contains("outbox:1"));
  init_twice_at_once(command, "table=outbox");
  CHECK(shop->value("SELECT status FROM outbox") == "SENT");
}

#ifdef WAYBILL_WITH_MYSQL
/// As the plain client of the servers does: one statement after the other.
void run_script(Shop& shop, const std::string& script) {
  if (shop.is_sqlite()) return shop.run(script);
  const MysqlOptions options = mysql_options(Url::parse(shop.url()), {});
  PlainClient client(options, {CLIENT_MULTI_STATEMENTS});
  REQUIRE(mysql_real_query(client.handle(), script.data(), static_cast<unsigned long>(script.size())) == 0);
  int status = 0;
  do {
    mysql_free_result(mysql_store_result(client.handle()));
    status = mysql_next_result(client.handle());
  } while (status == 0);
  INFO(mysql_error(client.handle()));
  REQUIRE(status == -1);
}

TEST_CASE_METHOD(InBareShops,
                 "init --print-sql for a user's table is run by the plain client, and is all that it takes") {
  create_domain_event_table(*shop);
  const Command command(*shop);
  const std::string sql = command.ok({"init", "--print-sql"}, "table=domain_event_outbox");
  CHECK_THAT(sql, Contains("waybill_delivery"));
  run_script(*shop, sql);
  record_event(*shop, "E1");
  CHECK_THAT(command.ok({"relay", "--drain", "--to", "stdout:"}, "table=domain_event_outbox"), Contains("E1"));
  CHECK(shop->value("SELECT status FROM domain_event_outbox") == "1");
  (void)command.ok({"init"}, "table=domain_event_outbox");
}
#endif

}  // namespace
}  // namespace waybill::test
