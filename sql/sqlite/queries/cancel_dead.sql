-- ?1 id, ?2 now. Policy: a dead event is cancelled; its reason stays.
UPDATE biz_outbox_event SET publish_status = {to:cancel}, update_time = ?2 WHERE id = ?1 AND {dead}
