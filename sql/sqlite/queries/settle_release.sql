-- ?1 id, ?2 version, ?3 owner, ?4 now, ?5 due time.
UPDATE biz_outbox_event
SET publish_status = {to:release}, next_retry_time = ?5, update_time = ?4, locked_by = NULL, lock_until = NULL
WHERE id = ?1 AND version = ?2 AND locked_by = ?3 AND {from:release}
