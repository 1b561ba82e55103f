-- ?1 before, ?2 limit.
SELECT id FROM biz_outbox_event
WHERE (publish_status = 2 OR publish_status = 4) AND update_time < ?1
ORDER BY id LIMIT ?2
