INSERT IGNORE INTO waybill_schema (version, name) VALUES (?, ?)
