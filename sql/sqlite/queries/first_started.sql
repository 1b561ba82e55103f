-- The oldest of the backlog beside the pending: in progress, failed and retryable.
SELECT min(id) FROM (
    SELECT min(id) AS id FROM biz_outbox_event INDEXED BY idx_outbox_lease WHERE publish_status = 1 AND deleted = 0
    UNION ALL
    SELECT min(id) FROM biz_outbox_event INDEXED BY idx_outbox_failed
    WHERE publish_status = 3 AND deleted = 0 AND next_retry_time IS NOT NULL AND retry_count < max_retry_count)
