-- ? limit.
SELECT {columns}, UTC_TIMESTAMP(6) FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 0 AND next_retry_time <= UTC_TIMESTAMP(6) AND deleted = 0
ORDER BY next_retry_time LIMIT ? FOR UPDATE SKIP LOCKED
