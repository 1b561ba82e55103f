INSERT INTO waybill_counter (name, value) VALUES (?1, ?2)
ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
