-- ? ? since then: how many waiting events became due.
SELECT
    (SELECT COUNT(*) FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 0 AND next_retry_time > ? AND next_retry_time <= UTC_TIMESTAMP(6)) +
    (SELECT COUNT(*) FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
     WHERE publish_status = 3 AND next_retry_time > ? AND next_retry_time <= UTC_TIMESTAMP(6))
