INSERT INTO waybill_note (name, value) VALUES (?, ?)
ON DUPLICATE KEY UPDATE value = VALUES(value)
