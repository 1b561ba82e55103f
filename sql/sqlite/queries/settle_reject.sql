-- ?1 id, ?2 version, ?3 owner, ?4 now, ?5 unused, ?6 reason.
UPDATE biz_outbox_event
SET publish_status = {to:reject}, retry_count = retry_count + 1, fail_reason = ?6, update_time = ?4, locked_by = NULL,
    lock_until = NULL, next_retry_time = NULL
WHERE id = ?1 AND version = ?2 AND locked_by = ?3 AND {from:reject}
