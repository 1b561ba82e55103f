SELECT coalesce(max(version), 0) FROM waybill_schema
