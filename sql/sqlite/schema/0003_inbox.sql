-- What a consumer has done: written in the consumer's own transaction.
CREATE TABLE biz_event_inbox (
    consumer     TEXT    NOT NULL CHECK (length(consumer) BETWEEN 1 AND 64),
    event_no     TEXT    NOT NULL CHECK (length(event_no) BETWEEN 1 AND 64),
    consume_time INTEGER NOT NULL,
    PRIMARY KEY (consumer, event_no)
) WITHOUT ROWID;

CREATE INDEX idx_inbox_consume_time ON biz_event_inbox (consume_time);
