-- Days whose unfinished events are not as biz_event_stat has them, from the claim's index.
SELECT DISTINCT day FROM (
    SELECT {day} AS day, event_type, publish_status, COUNT(*) AS n
    FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
    WHERE publish_status IN (0, 1, 3) AND deleted = 0 GROUP BY 1, 2, 3
    UNION ALL
    SELECT {stat_day}, event_type, publish_status, -event_count FROM biz_event_stat FORCE INDEX (idx_stat_status)
    WHERE publish_status IN (0, 1, 3)) AS both_sides
GROUP BY day, event_type, publish_status HAVING SUM(n) <> 0
