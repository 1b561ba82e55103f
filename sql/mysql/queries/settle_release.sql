-- ? due time, ids…, ? version, ? owner.
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:release}, next_retry_time = ?, update_time = UTC_TIMESTAMP(6), locked_by = NULL,
    lock_until = NULL
WHERE id IN ({list}) AND version = ? AND locked_by = ? AND {from:release}
