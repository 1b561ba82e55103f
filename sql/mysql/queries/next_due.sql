-- The earliest event that is not due yet.
SELECT MIN(due) FROM (
    (SELECT next_retry_time AS due FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 0 AND next_retry_time > UTC_TIMESTAMP(6) AND deleted = 0
     ORDER BY next_retry_time LIMIT 1)
    UNION ALL
    (SELECT next_retry_time FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 3 AND next_retry_time > UTC_TIMESTAMP(6) AND retry_count < max_retry_count AND deleted = 0
     ORDER BY next_retry_time LIMIT 1)) AS coming
