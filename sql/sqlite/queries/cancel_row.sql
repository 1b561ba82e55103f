-- ?1 id, ?2 now, ?3 reason.
UPDATE biz_outbox_event
SET publish_status = {to:cancel}, fail_reason = ?3, update_time = ?2, locked_by = NULL, lock_until = NULL
WHERE id = ?1 AND {from:cancel} AND deleted = 0
