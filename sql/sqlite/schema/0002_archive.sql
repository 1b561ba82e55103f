-- Finished events out of the way of the others. Same columns, no checks: rows come from biz_outbox_event only.
CREATE TABLE biz_outbox_event_archive (
    id                INTEGER PRIMARY KEY,
    event_no          TEXT    NOT NULL,
    aggregate_type    TEXT    NOT NULL,
    aggregate_id      TEXT    NOT NULL,
    event_type        TEXT    NOT NULL,
    event_version     INTEGER NOT NULL,
    event_source      TEXT    NOT NULL,
    publish_channel   TEXT    NOT NULL,
    topic             TEXT,
    routing_key       TEXT,
    event_payload     TEXT    NOT NULL,
    event_headers     TEXT,
    publish_status    INTEGER NOT NULL,
    retry_count       INTEGER NOT NULL,
    max_retry_count   INTEGER NOT NULL,
    next_retry_time   INTEGER,
    locked_by         TEXT,
    lock_until        INTEGER,
    last_publish_time INTEGER,
    published_time    INTEGER,
    fail_reason       TEXT,
    trace_id          TEXT,
    remark            TEXT,
    version           INTEGER NOT NULL,
    deleted           INTEGER NOT NULL,
    create_time       INTEGER NOT NULL,
    update_time       INTEGER NOT NULL,
    archive_time      INTEGER NOT NULL
);

CREATE UNIQUE INDEX uk_archive_event_no ON biz_outbox_event_archive (event_no);
CREATE INDEX idx_archive_update_time ON biz_outbox_event_archive (update_time);
