-- ? next time, ? reason, ids…, ? version, ? owner. Assignments go from left to right: retry_count comes last.
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:fail}, next_retry_time = CASE WHEN retry_count + 1 < max_retry_count THEN ? END,
    fail_reason = ?, retry_count = retry_count + 1, update_time = UTC_TIMESTAMP(6),
    locked_by = NULL, lock_until = NULL
WHERE id IN ({list}) AND version = ? AND locked_by = ? AND {from:fail}
