-- ? first, ? last moment, and the same again: the day's events, archived or not. One statement sees one moment, so that
-- an event on its way into the archive is counted once.
SELECT event_type, publish_status, COUNT(*) FROM biz_outbox_event FORCE INDEX (idx_create_time)
WHERE create_time BETWEEN ? AND ? AND deleted = 0 GROUP BY event_type, publish_status
UNION ALL
SELECT event_type, publish_status, COUNT(*) FROM biz_outbox_event_archive FORCE INDEX (idx_archive_create_time)
WHERE create_time BETWEEN ? AND ? AND deleted = 0 GROUP BY event_type, publish_status
