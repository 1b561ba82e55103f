-- Columns and defaults of the seed's biz_outbox_event. Times are whole microseconds since 1970-01-01 UTC; the checks
-- keep a text date or a payload that is no JSON from getting in by plain SQL. AUTOINCREMENT: an id is never used twice.
CREATE TABLE biz_outbox_event (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    event_no          TEXT    NOT NULL CHECK (length(event_no) BETWEEN 1 AND 64),
    aggregate_type    TEXT    NOT NULL CHECK (length(aggregate_type) BETWEEN 1 AND 64),
    aggregate_id      TEXT    NOT NULL CHECK (length(aggregate_id) BETWEEN 1 AND 64),
    event_type        TEXT    NOT NULL CHECK (length(event_type) BETWEEN 1 AND 64),
    event_version     INTEGER NOT NULL DEFAULT 1,
    event_source      TEXT    NOT NULL CHECK (length(event_source) BETWEEN 1 AND 64),
    publish_channel   TEXT    NOT NULL CHECK (length(publish_channel) BETWEEN 1 AND 32),
    topic             TEXT             CHECK (length(topic) <= 128),
    routing_key       TEXT             CHECK (length(routing_key) <= 128),
    event_payload     TEXT    NOT NULL CHECK (json_valid(event_payload)),
    event_headers     TEXT             CHECK (json_type(event_headers) = 'object'),
    publish_status    INTEGER NOT NULL DEFAULT 0 CHECK (publish_status BETWEEN 0 AND 4),
    retry_count       INTEGER NOT NULL DEFAULT 0,
    max_retry_count   INTEGER NOT NULL DEFAULT 5,
    next_retry_time   INTEGER          CHECK (typeof(next_retry_time) IN ('integer', 'null')),
    locked_by         TEXT,
    lock_until        INTEGER          CHECK (typeof(lock_until) IN ('integer', 'null')),
    last_publish_time INTEGER,
    published_time    INTEGER,
    fail_reason       TEXT,
    trace_id          TEXT             CHECK (length(trace_id) <= 128),
    remark            TEXT             CHECK (length(remark) <= 500),
    version           INTEGER NOT NULL DEFAULT 0,
    deleted           INTEGER NOT NULL DEFAULT 0,
    create_time       INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
                              CHECK (typeof(create_time) = 'integer'),
    update_time       INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
                              CHECK (typeof(update_time) = 'integer')
);

CREATE UNIQUE INDEX uk_event_no ON biz_outbox_event (event_no);

-- Each state has its small index, so that finished rows cost a claim nothing. Queries repeat the WHERE term by term and
-- name the index: bound parameters or ANALYZE would turn them into scans. The two constant columns (no byte each) make
-- the indexes cover the counts.
CREATE INDEX idx_outbox_new ON biz_outbox_event (publish_status, deleted, next_retry_time)
    WHERE publish_status = 0 AND deleted = 0;
CREATE INDEX idx_outbox_lease ON biz_outbox_event (publish_status, deleted, lock_until)
    WHERE publish_status = 1 AND deleted = 0;
CREATE INDEX idx_outbox_failed ON biz_outbox_event (publish_status, deleted, next_retry_time)
    WHERE publish_status = 3 AND deleted = 0;
CREATE INDEX idx_outbox_aside ON biz_outbox_event (publish_status, deleted)
    WHERE publish_status = 4 OR deleted <> 0;
