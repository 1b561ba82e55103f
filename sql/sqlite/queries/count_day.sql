-- ?1 first, ?2 last moment: the day's events, archived or not.
SELECT event_type, publish_status, count(*) FROM biz_outbox_event INDEXED BY idx_create_time
WHERE create_time BETWEEN ?1 AND ?2 AND deleted = 0 GROUP BY 1, 2
UNION ALL
SELECT event_type, publish_status, count(*) FROM biz_outbox_event_archive INDEXED BY idx_archive_create_time
WHERE create_time BETWEEN ?1 AND ?2 AND deleted = 0 GROUP BY 1, 2
