-- Days whose unfinished events are not as biz_event_stat has them, from the small indexes.
SELECT DISTINCT day FROM (
    SELECT {day} AS day, event_type, publish_status, count(*) AS n FROM biz_outbox_event INDEXED BY idx_outbox_new
    WHERE publish_status = 0 AND deleted = 0 GROUP BY 1, 2, 3
    UNION ALL
    SELECT {day}, event_type, publish_status, count(*) FROM biz_outbox_event INDEXED BY idx_outbox_lease
    WHERE publish_status = 1 AND deleted = 0 GROUP BY 1, 2, 3
    UNION ALL
    SELECT {day}, event_type, publish_status, count(*) FROM biz_outbox_event INDEXED BY idx_outbox_failed
    WHERE publish_status = 3 AND deleted = 0 GROUP BY 1, 2, 3
    UNION ALL
    SELECT {stat_day}, event_type, publish_status, -event_count FROM biz_event_stat INDEXED BY idx_stat_status
    WHERE publish_status IN (0, 1, 3))
GROUP BY day, event_type, publish_status HAVING sum(n) <> 0
