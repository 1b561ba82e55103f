-- The books (purged, dropped) and small facts (the relay's routes).
CREATE TABLE IF NOT EXISTS waybill_counter (
    name VARCHAR(64) COLLATE {exact} NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={collation};

CREATE TABLE IF NOT EXISTS waybill_note (
    name VARCHAR(64) COLLATE {exact} NOT NULL PRIMARY KEY,
    value LONGTEXT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={collation};
