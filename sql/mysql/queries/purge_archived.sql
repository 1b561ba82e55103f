-- ? before, ? limit.
DELETE FROM biz_outbox_event_archive WHERE update_time < ? ORDER BY update_time, id LIMIT ?
