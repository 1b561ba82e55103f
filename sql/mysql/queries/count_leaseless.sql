-- In progress without a lease: only a foreign writer does that, and nobody takes such a row back by itself.
SELECT COUNT(*) FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 1 AND deleted = 0 AND lock_until IS NULL
