SELECT value FROM waybill_note WHERE name = ?1
