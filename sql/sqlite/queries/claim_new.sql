-- ?1: go on after this id; ?2: not beyond that id.
SELECT {what} FROM biz_outbox_event INDEXED BY idx_outbox_new
WHERE publish_status = 0 AND deleted = 0 AND next_retry_time IS NULL AND id > ?1 AND id <= ?2
ORDER BY id
