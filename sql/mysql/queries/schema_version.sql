SELECT COALESCE(MAX(version), 0) FROM waybill_schema
