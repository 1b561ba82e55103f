INSERT INTO waybill_schema (version, name, applied) VALUES (?1, ?2, ?3)
