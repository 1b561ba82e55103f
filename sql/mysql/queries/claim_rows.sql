-- ? owner, ? lock_until, ? now, ? now, ids… By the primary key: the other index is where deadlocks come from.
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:claim}, locked_by = ?, lock_until = ?, last_publish_time = ?, update_time = ?,
    version = version + 1
WHERE id IN ({list}) AND {from:claim}
