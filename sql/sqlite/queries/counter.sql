SELECT coalesce((SELECT value FROM waybill_counter WHERE name = ?1), 0)
