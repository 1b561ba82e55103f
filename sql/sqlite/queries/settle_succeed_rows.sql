-- ?1 ids as JSON, ?2 version, ?3 owner, ?4 now: events of one owner that all have one version.
UPDATE biz_outbox_event
SET publish_status = {to:succeed}, published_time = ?4, update_time = ?4, fail_reason = NULL, locked_by = NULL,
    lock_until = NULL
WHERE id IN (SELECT value FROM json_each(?1)) AND version = ?2 AND locked_by = ?3 AND {from:succeed}
