SELECT publish_status, COUNT(*), CAST(SUM({dead}) AS SIGNED), MIN(CASE WHEN NOT {dead} THEN id END)
FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status IN (0, 1, 3) AND deleted = 0
GROUP BY publish_status
