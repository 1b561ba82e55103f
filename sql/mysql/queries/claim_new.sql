-- In index order, or a relay would lock every candidate. ? limit.
SELECT {columns}, UTC_TIMESTAMP(6) FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 0 AND next_retry_time IS NULL {fresh} AND deleted = 0 AND id > ?
ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED
