-- ?1 limit. The oldest events that are not in progress. New ones are in id order already.
SELECT id FROM (
    SELECT * FROM (SELECT id FROM biz_outbox_event INDEXED BY idx_outbox_new
                   WHERE publish_status = 0 AND deleted = 0 AND next_retry_time IS NULL ORDER BY id LIMIT ?1)
    UNION ALL
    SELECT * FROM (SELECT id FROM biz_outbox_event INDEXED BY idx_outbox_new
                   WHERE publish_status = 0 AND deleted = 0 AND next_retry_time IS NOT NULL ORDER BY id LIMIT ?1)
    UNION ALL
    SELECT * FROM (SELECT id FROM biz_outbox_event INDEXED BY idx_outbox_failed
                   WHERE publish_status = 3 AND deleted = 0 ORDER BY id LIMIT ?1))
ORDER BY id LIMIT ?1
