-- ?1 now; ?2, ?3: go on after this time and id.
SELECT {what} FROM biz_outbox_event INDEXED BY idx_outbox_failed
WHERE publish_status = 3 AND deleted = 0 AND next_retry_time <= ?1 AND (next_retry_time, id) > (?2, ?3)
  AND retry_count < max_retry_count
ORDER BY next_retry_time, id
