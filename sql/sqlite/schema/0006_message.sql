-- Columns and defaults of the seed's biz_message_event: work for handlers. Times as in biz_outbox_event.
CREATE TABLE IF NOT EXISTS biz_message_event (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    event_no         TEXT    NOT NULL CHECK (length(event_no) BETWEEN 1 AND 64),
    event_type       TEXT    NOT NULL CHECK (length(event_type) BETWEEN 1 AND 64),
    biz_type         TEXT    NOT NULL CHECK (length(biz_type) BETWEEN 1 AND 64),
    biz_id           TEXT    NOT NULL CHECK (length(biz_id) BETWEEN 1 AND 64),
    event_source     TEXT    NOT NULL CHECK (length(event_source) BETWEEN 1 AND 64),
    event_payload    TEXT    NOT NULL CHECK (json_valid(event_payload)),
    event_status     INTEGER NOT NULL DEFAULT 0 CHECK (event_status BETWEEN 0 AND 4),
    retry_count      INTEGER NOT NULL DEFAULT 0,
    max_retry_count  INTEGER NOT NULL DEFAULT 3,
    next_retry_time  INTEGER          CHECK (typeof(next_retry_time) IN ('integer', 'null')),
    last_handle_time INTEGER,
    success_time     INTEGER,
    fail_reason      TEXT,
    trace_id         TEXT             CHECK (length(trace_id) <= 128),
    remark           TEXT             CHECK (length(remark) <= 500),
    version          INTEGER NOT NULL DEFAULT 0,
    deleted          INTEGER NOT NULL DEFAULT 0,
    create_time      INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
                             CHECK (typeof(create_time) = 'integer'),
    update_time      INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
                             CHECK (typeof(update_time) = 'integer')
);

CREATE UNIQUE INDEX IF NOT EXISTS uk_message_event_no ON biz_message_event (event_no);
-- Serves the search for new messages, whatever lies behind; the seed's idx_status_retry_time would have to be sorted.
CREATE INDEX IF NOT EXISTS idx_message_status ON biz_message_event (event_status);
CREATE INDEX IF NOT EXISTS idx_message_biz ON biz_message_event (biz_type, biz_id);
