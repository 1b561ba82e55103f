// Times in a user's own columns, and the removal of old rows.

#include "adopted/tables.hpp"

namespace waybill::test {
namespace {

/// A text key and every time column that waybill writes.
TableModel letter_model() {
  TableModel model;
  model.table = "letter";
  model.columns = {{"event_no", "nr"},
                   {"event_payload", "body"},
                   {"publish_status", "state"},
                   {"retry_count", "tries"},
                   {"next_retry_time", "again"},
                   {"lock_until", "held"},
                   {"last_publish_time", "tried"},
                   {"published_time", "sent"},
                   {"create_time", "made"},
                   {"update_time", "changed"}};
  model.status = {{"NEW"}, {"BUSY"}, {}, {"SENT"}, {"DEAD"}, {"VOID"}, true};
  return model;
}

class Letters : public InShops {
 protected:
  Letters() {
    const std::string columns =
        " (nr VARCHAR(20) NOT NULL PRIMARY KEY, body TEXT, state VARCHAR(8) NOT NULL DEFAULT 'NEW', tries INT NOT NULL "
        "DEFAULT 0, again DATETIME NULL, held DATETIME NULL, tried DATETIME NULL, sent DATETIME NULL, made DATETIME "
        "DEFAULT CURRENT_TIMESTAMP, changed DATETIME DEFAULT CURRENT_TIMESTAMP)";
    shop->run("CREATE TABLE letter" + columns + (GENERATE(false, true) ? " WITHOUT ROWID" : ""),
              "CREATE TABLE letter" + columns);
    shop->run("CREATE INDEX idx_letter ON letter (state)");
    if (!shop->is_sqlite()) shop->run("SET time_zone = '+00:00'");
    TableModel model = letter_model();
    model.time_zone = "+00:00";
    store = shop->adopt(model);
  }
  void write_letter(const std::string& number) {
    shop->run("INSERT INTO letter (nr, body) VALUES ('" + number + "', '{}')");
  }
  /// Seconds from now to a time of the table's first row.
  double seconds_to(const std::string& column) {
    const std::string now = std::to_string(shop->clock->now().time_since_epoch().count() / 1'000'000);
    return std::stod(shop->value(
        shop->is_sqlite() ? "SELECT (julianday(" + column + ") - 2440587.5) * 86400 - " + now + " FROM letter"
                          : "SELECT TIMESTAMPDIFF(SECOND, FROM_UNIXTIME(" + now + "), " + column + ") FROM letter"));
  }

  std::unique_ptr<IEventRepository> store;
};

TEST_CASE_METHOD(Letters, "adopted: times are written as the table's own columns have them") {
  write_letter("L1");
  ClaimRequest request = claim_request();
  request.lease = 30s;
  const Event held = claim_soon(*store, request).at(0);
  CHECK(std::abs(seconds_to("held") - 30) < 3);
  CHECK(std::abs(seconds_to("tried")) < 3);
  CHECK(fail(*store, held, 10min) == SettleStatus::applied);
  CHECK(std::abs(seconds_to("again") - 600) < 3);
  CHECK(shop->value("SELECT held FROM letter") == "NULL");
  shop->clock->advance(10min + 1s);
  CHECK(deliver_all(*store) == Numbers{"L1"});
  CHECK(std::abs(seconds_to("sent")) < 3);
  CHECK(std::abs(seconds_to("changed")) < 3);
}

TEST_CASE_METHOD(Letters, "adopted: a row that the user wants later is delivered later") {
  shop->run("INSERT INTO letter (nr, body, again) VALUES ('L1', '{}', datetime('now', '+1 hour'))",
            "INSERT INTO letter (nr, body, again) VALUES ('L1', '{}', DATE_ADD(NOW(), INTERVAL 1 HOUR))");
  CHECK(deliver_all(*store) == Numbers{});
  shop->clock->advance(61min);
  CHECK(deliver_all(*store) == Numbers{"L1"});
}

TEST_CASE_METHOD(Letters, "adopted: purge removes finished rows that are old, and no others") {
  for (const char* number : {"L1", "L2", "L3", "L4"}) write_letter(number);
  const std::vector<Event> events = claim_soon(*store);
  REQUIRE(events.size() == 4);
  CHECK(succeed(*store, events[0]) == SettleStatus::applied);
  CHECK(settle(*store, settlement_of(events[1], Command::reject)) == SettleStatus::applied);
  CHECK(settle(*store, settlement_of(events[2], Command::release)) == SettleStatus::applied);
  shop->clock->advance(1h);
  CHECK(succeed(*store, events[3]) == SettleStatus::applied);
  CHECK(store->purge(store->now() - 30min, 10) == 1);
  CHECK(shop->rows("SELECT nr, state FROM letter ORDER BY nr") == Rows{"L2|DEAD", "L3|NEW", "L4|SENT"});
  CHECK(store->purge(store->now() + 1s, 10) == 1);
  CHECK(store->purge(store->now() + 1s, 10) == 0);
  CHECK(shop->rows("SELECT nr FROM letter ORDER BY nr") == Rows{"L2", "L3"});
  CHECK(store->stats({}).purged == 2);
}

}  // namespace
}  // namespace waybill::test
