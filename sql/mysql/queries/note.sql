SELECT value FROM waybill_note WHERE name = ?
