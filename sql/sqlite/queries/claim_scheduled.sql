-- ?1 now; ?2, ?3: go on after this time and id.
SELECT {what} FROM biz_outbox_event INDEXED BY idx_outbox_new
WHERE publish_status = 0 AND deleted = 0 AND next_retry_time <= ?1 AND (next_retry_time, id) > (?2, ?3)
ORDER BY next_retry_time, id
