-- ? reason, ids…, ? version, ? owner.
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:reject}, next_retry_time = NULL, fail_reason = ?, retry_count = retry_count + 1,
    update_time = UTC_TIMESTAMP(6), locked_by = NULL, lock_until = NULL
WHERE id IN ({list}) AND version = ? AND locked_by = ? AND {from:reject}
