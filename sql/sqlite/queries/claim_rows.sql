-- ?1 owner, ?2 lock_until, ?3 now, ?4 ids as JSON.
UPDATE biz_outbox_event
SET publish_status = {to:claim}, locked_by = ?1, lock_until = ?2, last_publish_time = ?3, update_time = ?3,
    version = version + 1
WHERE id IN (SELECT value FROM json_each(?4)) AND {from:claim}
