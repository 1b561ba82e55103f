-- NULL times are in id order already; the scheduled ones are few.
SELECT min(id) FROM (
    SELECT * FROM (SELECT id FROM biz_outbox_event INDEXED BY idx_outbox_new
                   WHERE publish_status = 0 AND deleted = 0 AND next_retry_time IS NULL ORDER BY id LIMIT 1)
    UNION ALL
    SELECT min(id) FROM biz_outbox_event INDEXED BY idx_outbox_new
    WHERE publish_status = 0 AND deleted = 0 AND next_retry_time IS NOT NULL)
