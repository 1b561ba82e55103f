#pragma once
// A user's own table that has a column for everything, under other names: the suite runs over it as over any store.

#include "waybill/table_model.hpp"

namespace waybill::test {

inline constexpr const char* kSqliteShopTable = R"(
CREATE TABLE IF NOT EXISTS shop_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, nr TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, subject TEXT NOT NULL,
    what TEXT NOT NULL, shape INTEGER NOT NULL, origin TEXT NOT NULL, channel TEXT NOT NULL, topic TEXT, routing TEXT,
    body TEXT NOT NULL, headers TEXT, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    most_tries INTEGER NOT NULL DEFAULT 5, due INTEGER, holder TEXT, held_until INTEGER, tried INTEGER, done INTEGER,
    reason TEXT, trace TEXT, remark TEXT, revision INTEGER NOT NULL DEFAULT 0, gone INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL, changed INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS idx_shop_state ON shop_event (state);
)";

inline constexpr const char* kMysqlShopTable = R"(
CREATE TABLE IF NOT EXISTS shop_event (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, nr VARCHAR(64) COLLATE utf8mb4_bin NOT NULL UNIQUE,
    kind VARCHAR(64) COLLATE utf8mb4_bin NOT NULL, subject VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    what VARCHAR(64) COLLATE utf8mb4_bin NOT NULL, shape INT NOT NULL, origin VARCHAR(64) NOT NULL,
    channel VARCHAR(32) COLLATE utf8mb4_bin NOT NULL, topic VARCHAR(128) COLLATE utf8mb4_bin, routing VARCHAR(128),
    body JSON NOT NULL, headers JSON, state VARCHAR(16) NOT NULL, tries INT NOT NULL DEFAULT 0,
    most_tries INT NOT NULL DEFAULT 5, due DATETIME(6), holder VARCHAR(128), held_until DATETIME(6), tried DATETIME(6),
    done DATETIME(6), reason VARCHAR(1000), trace VARCHAR(128), remark VARCHAR(500), revision INT NOT NULL DEFAULT 0,
    gone TINYINT NOT NULL DEFAULT 0, created DATETIME(6) NOT NULL, changed DATETIME(6) NOT NULL,
    KEY idx_shop_state (state)) CHARACTER SET utf8mb4
)";

inline TableModel shop_table() {
  TableModel model;
  model.table = "shop_event";
  model.columns = {{"id", "seq"},
                   {"event_no", "nr"},
                   {"aggregate_type", "kind"},
                   {"aggregate_id", "subject"},
                   {"event_type", "what"},
                   {"event_version", "shape"},
                   {"event_source", "origin"},
                   {"publish_channel", "channel"},
                   {"topic", "topic"},
                   {"routing_key", "routing"},
                   {"event_payload", "body"},
                   {"event_headers", "headers"},
                   {"publish_status", "state"},
                   {"retry_count", "tries"},
                   {"max_retry_count", "most_tries"},
                   {"next_retry_time", "due"},
                   {"locked_by", "holder"},
                   {"lock_until", "held_until"},
                   {"last_publish_time", "tried"},
                   {"published_time", "done"},
                   {"fail_reason", "reason"},
                   {"trace_id", "trace"},
                   {"remark", "remark"},
                   {"version", "revision"},
                   {"deleted", "gone"},
                   {"create_time", "created"},
                   {"update_time", "changed"}};
  model.status = {{"NEW"}, {"BUSY"}, {"AGAIN"}, {"DONE"}, {"AGAIN"}, {"DROPPED"}, true};
  return model;
}

}  // namespace waybill::test
