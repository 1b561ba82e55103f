-- ?1 before, ?2 limit.
DELETE FROM biz_outbox_event_archive WHERE id IN (
    SELECT id FROM biz_outbox_event_archive INDEXED BY idx_archive_update_time
    WHERE update_time < ?1 ORDER BY update_time LIMIT ?2)
