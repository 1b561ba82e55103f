-- In progress, and the lease ran out long ago.
SELECT COUNT(*) FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 1 AND deleted = 0 AND lock_until <= UTC_TIMESTAMP(6) - INTERVAL 5 MINUTE
