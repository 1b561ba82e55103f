-- Events by day of create_time (UTC), type and status, kept by `rollup`. purged_count is the part of event_count that
-- is no longer in the store: a day's numbers outlive its events.
CREATE TABLE biz_event_stat (
    stat_date      TEXT    NOT NULL CHECK (stat_date = date(stat_date)),
    event_type     TEXT    NOT NULL,
    publish_status INTEGER NOT NULL,
    event_count    INTEGER NOT NULL,
    purged_count   INTEGER NOT NULL DEFAULT 0,
    update_time    INTEGER NOT NULL,
    PRIMARY KEY (stat_date, event_type, publish_status)
) WITHOUT ROWID;

CREATE INDEX idx_stat_status ON biz_event_stat (publish_status, stat_date);

-- Days whose events are to be counted again.
CREATE TABLE waybill_stat_day (
    stat_date TEXT NOT NULL PRIMARY KEY
) WITHOUT ROWID;

CREATE INDEX idx_archive_create_time ON biz_outbox_event_archive (create_time);
