-- Candidates, not locked. ? after this id, ? not beyond that id, ? limit.
SELECT {lean} FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 0 AND next_retry_time IS NULL {fresh} AND deleted = 0 AND id > ? AND id <= ?
ORDER BY id LIMIT ?
