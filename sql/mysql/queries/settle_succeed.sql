-- ids…, ? version, ? owner.
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:succeed}, published_time = UTC_TIMESTAMP(6), update_time = UTC_TIMESTAMP(6),
    fail_reason = NULL, locked_by = NULL, lock_until = NULL
WHERE id IN ({list}) AND version = ? AND locked_by = ? AND {from:succeed}
