-- ? limit.
SELECT {lean} FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 0 AND next_retry_time IS NULL AND retry_count > 0 AND deleted = 0
ORDER BY retry_count, id LIMIT ?
