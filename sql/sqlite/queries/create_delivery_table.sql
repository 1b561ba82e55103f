-- The delivery of an adopted table's events: what biz_outbox_event says of one, but for what the table itself holds.
CREATE TABLE IF NOT EXISTS {delivery} (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    {key_definition}event_no          TEXT    NOT NULL,
    aggregate_type    TEXT    NOT NULL,
    aggregate_id      TEXT    NOT NULL,
    event_type        TEXT    NOT NULL,
    event_version     INTEGER NOT NULL,
    event_source      TEXT    NOT NULL,
    publish_channel   TEXT    NOT NULL,
    topic             TEXT,
    routing_key       TEXT,
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
    deleted           INTEGER NOT NULL DEFAULT 0,
    create_time       INTEGER NOT NULL,
    update_time       INTEGER NOT NULL
);

CREATE INDEX IF NOT EXISTS {index}_new ON {delivery} (publish_status, deleted, next_retry_time)
    WHERE publish_status = 0 AND deleted = 0;
CREATE INDEX IF NOT EXISTS {index}_lease ON {delivery} (publish_status, deleted, lock_until)
    WHERE publish_status = 1 AND deleted = 0;
CREATE INDEX IF NOT EXISTS {index}_failed ON {delivery} (publish_status, deleted, next_retry_time)
    WHERE publish_status = 3 AND deleted = 0;
CREATE INDEX IF NOT EXISTS {index}_aside ON {delivery} (publish_status, deleted)
    WHERE publish_status = 4 OR deleted <> 0;
CREATE INDEX IF NOT EXISTS {done_index} ON {delivery} (publish_status)
    WHERE publish_status = 2;
