-- ? before, ? limit. Delivered, and their rows say so.
SELECT id FROM {delivery} FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 2 AND update_time < ?
LIMIT ? FOR UPDATE SKIP LOCKED
