-- ? ? when the last claim was. What changes when there may be new work: the newest event, how many are new, how many
-- waiting ones became due, how many are dead (one less, and an ordered aggregate moves). Counted up to 200 only.
SELECT
    (SELECT id FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 0 AND next_retry_time IS NULL {fresh} ORDER BY id DESC LIMIT 1),
    (SELECT COUNT(*) FROM (SELECT 1 FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 0 AND next_retry_time IS NULL LIMIT 200) AS new_ones),
    (SELECT COUNT(*) FROM (SELECT 1 FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 0 AND next_retry_time >= ? AND next_retry_time <= UTC_TIMESTAMP(6) LIMIT 200) AS scheduled),
    (SELECT COUNT(*) FROM (SELECT 1 FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 3 AND next_retry_time >= ? AND next_retry_time <= UTC_TIMESTAMP(6) LIMIT 200) AS retries),
    (SELECT COUNT(*) FROM (SELECT 1 FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 3 AND next_retry_time IS NULL LIMIT 200) AS dead)
