-- ? before, ? limit.
SELECT id FROM biz_outbox_event_archive FORCE INDEX (idx_archive_update_time)
WHERE update_time < ? ORDER BY update_time, id LIMIT ? FOR UPDATE SKIP LOCKED
