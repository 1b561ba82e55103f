-- Which numbered migrations have run here.
CREATE TABLE IF NOT EXISTS waybill_schema (
    version INT NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    applied DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
