-- {order} next_retry_time, id (or without id, in whole). ? ? ? go on after this time and id; ? limit.
SELECT {lean} FROM biz_outbox_event FORCE INDEX (idx_status_retry_time)
WHERE publish_status = 0 AND next_retry_time <= UTC_TIMESTAMP(6) AND deleted = 0
  AND next_retry_time >= ? AND (next_retry_time > ? OR id > ?)
ORDER BY {order} LIMIT ?
