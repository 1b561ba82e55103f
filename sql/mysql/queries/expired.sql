-- ? limit. Not locked: the settling UPDATE looks again.
SELECT id, version, COALESCE(locked_by, ''), event_type, retry_count, max_retry_count
FROM biz_outbox_event
WHERE publish_status = 1 AND deleted = 0 AND lock_until <= UTC_TIMESTAMP(6)
ORDER BY lock_until, id LIMIT ?
