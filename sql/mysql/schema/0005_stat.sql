-- Events by day of create_time (UTC), type and status, kept by `rollup`. purged_count is the part of event_count that
-- is no longer in the store: a day's numbers outlive its events.
CREATE TABLE IF NOT EXISTS biz_event_stat (
    stat_date DATE NOT NULL,
    event_type VARCHAR(64) COLLATE {exact} NOT NULL,
    publish_status TINYINT NOT NULL,
    event_count BIGINT NOT NULL,
    purged_count BIGINT NOT NULL DEFAULT 0,
    update_time DATETIME(6) NOT NULL,
    PRIMARY KEY (stat_date, event_type, publish_status),
    KEY idx_stat_status (publish_status, stat_date)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={collation};

-- Days whose events are to be counted again.
CREATE TABLE IF NOT EXISTS waybill_stat_day (
    stat_date DATE NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={collation};

ALTER TABLE biz_outbox_event ADD KEY idx_create_time (create_time);
ALTER TABLE biz_outbox_event_archive ADD KEY idx_archive_create_time (create_time);
