SELECT publish_channel, topic, COUNT(*)
FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status IN (0, 1, 3) AND deleted = 0
GROUP BY publish_channel, topic ORDER BY publish_channel, topic
