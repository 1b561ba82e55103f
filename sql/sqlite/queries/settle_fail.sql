-- ?1 id, ?2 version, ?3 owner, ?4 now, ?5 next time, ?6 reason.
UPDATE biz_outbox_event
SET publish_status = {to:fail}, retry_count = retry_count + 1, fail_reason = ?6, update_time = ?4, locked_by = NULL,
    lock_until = NULL, next_retry_time = CASE WHEN retry_count + 1 < max_retry_count THEN ?5 END
WHERE id = ?1 AND version = ?2 AND locked_by = ?3 AND {from:fail}
