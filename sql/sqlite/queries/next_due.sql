-- ?1 now. The earliest event that is not due yet.
SELECT min(due) FROM (
    SELECT * FROM (SELECT next_retry_time AS due FROM biz_outbox_event INDEXED BY idx_outbox_new
                   WHERE publish_status = 0 AND deleted = 0 AND next_retry_time > ?1 ORDER BY next_retry_time LIMIT 1)
    UNION ALL
    SELECT * FROM (SELECT next_retry_time AS due FROM biz_outbox_event INDEXED BY idx_outbox_failed
                   WHERE publish_status = 3 AND deleted = 0 AND next_retry_time > ?1
                     AND retry_count < max_retry_count ORDER BY next_retry_time LIMIT 1))
