-- ?1 id, ?2 now.
UPDATE biz_outbox_event
SET publish_status = {to:requeue}, retry_count = 0, next_retry_time = ?2, update_time = ?2
WHERE id = ?1 AND {from:requeue} AND deleted = 0
