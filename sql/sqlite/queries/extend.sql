-- ?1 id, ?2 version, ?3 owner, ?4 now, ?5 lock_until.
UPDATE biz_outbox_event SET lock_until = ?5, update_time = ?4
WHERE id = ?1 AND version = ?2 AND locked_by = ?3 AND publish_status = {in_progress}
