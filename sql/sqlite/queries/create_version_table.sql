-- Which numbered migrations have run here.
CREATE TABLE IF NOT EXISTS waybill_schema (
    version INTEGER PRIMARY KEY,
    name    TEXT    NOT NULL,
    applied INTEGER NOT NULL
)
