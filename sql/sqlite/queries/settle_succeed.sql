-- ?1 id, ?2 version, ?3 owner, ?4 now.
UPDATE biz_outbox_event
SET publish_status = {to:succeed}, published_time = ?4, update_time = ?4, fail_reason = NULL, locked_by = NULL,
    lock_until = NULL
WHERE id = ?1 AND version = ?2 AND locked_by = ?3 AND {from:succeed}
