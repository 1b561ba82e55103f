-- ?1 now, ?2 limit.
SELECT id, version, coalesce(locked_by, ''), event_type, retry_count, max_retry_count
FROM biz_outbox_event INDEXED BY idx_outbox_lease
WHERE publish_status = 1 AND deleted = 0 AND lock_until <= ?1
ORDER BY lock_until, id LIMIT ?2
