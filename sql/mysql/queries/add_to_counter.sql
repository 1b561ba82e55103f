INSERT INTO waybill_counter (name, value) VALUES (?, ?)
ON DUPLICATE KEY UPDATE value = value + VALUES(value)
