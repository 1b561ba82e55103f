-- ?1 before, ?2 limit.
SELECT id FROM biz_outbox_event_archive INDEXED BY idx_archive_update_time
WHERE update_time < ?1 ORDER BY update_time, id LIMIT ?2
