-- ? before, ? limit.
SELECT id FROM biz_outbox_event FORCE INDEX (PRIMARY)
WHERE publish_status IN (2, 4) AND update_time < ?
ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED
