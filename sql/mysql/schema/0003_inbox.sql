-- What a consumer has done: written in the consumer's own transaction.
CREATE TABLE IF NOT EXISTS biz_event_inbox (
    consumer VARCHAR(64) COLLATE {exact} NOT NULL,
    event_no VARCHAR(64) COLLATE {exact} NOT NULL,
    consume_time DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    PRIMARY KEY (consumer, event_no),
    KEY idx_inbox_consume_time (consume_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={collation};
