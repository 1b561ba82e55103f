-- The last that arrived and is not done.
SELECT COALESCE(MAX(id), 0) FROM (
    SELECT id FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
    WHERE publish_status = 0 AND next_retry_time IS NULL {fresh} ORDER BY id DESC LIMIT 1) AS newest
