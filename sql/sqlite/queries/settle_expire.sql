-- As settle_fail, but only when the lease has run out.
UPDATE biz_outbox_event
SET publish_status = {to:expire}, retry_count = retry_count + 1, fail_reason = ?6, update_time = ?4, locked_by = NULL,
    lock_until = NULL, next_retry_time = CASE WHEN retry_count + 1 < max_retry_count THEN ?5 END
WHERE id = ?1 AND version = ?2 AND locked_by = ?3 AND {from:expire} AND lock_until <= ?4
