SELECT publish_channel, topic, sum(n) FROM (
    SELECT publish_channel, topic, count(*) AS n FROM biz_outbox_event INDEXED BY idx_outbox_new
    WHERE publish_status = 0 AND deleted = 0 GROUP BY 1, 2
    UNION ALL
    SELECT publish_channel, topic, count(*) FROM biz_outbox_event INDEXED BY idx_outbox_lease
    WHERE publish_status = 1 AND deleted = 0 GROUP BY 1, 2
    UNION ALL
    SELECT publish_channel, topic, count(*) FROM biz_outbox_event INDEXED BY idx_outbox_failed
    WHERE publish_status = 3 AND deleted = 0 GROUP BY 1, 2)
GROUP BY 1, 2 ORDER BY 1, 2
