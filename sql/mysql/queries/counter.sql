SELECT COALESCE((SELECT value FROM waybill_counter WHERE name = ?), 0)
