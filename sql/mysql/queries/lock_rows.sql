-- ids…: those that are still claimable and that nobody else has locked.
SELECT {columns}, UTC_TIMESTAMP(6) FROM biz_outbox_event FORCE INDEX (PRIMARY)
WHERE id IN ({list}) AND {from:claim} AND deleted = 0 AND NOT {dead}
  AND (next_retry_time IS NULL OR next_retry_time <= UTC_TIMESTAMP(6))
FOR UPDATE SKIP LOCKED
