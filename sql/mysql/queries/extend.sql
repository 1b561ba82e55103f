-- ? microseconds, ids…
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET lock_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, update_time = UTC_TIMESTAMP(6)
WHERE id IN ({list})
