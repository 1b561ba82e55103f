-- ? id of an event, ? not beyond this id, ? limit. New and due scheduled events of its aggregate, in order.
SELECT {lean} FROM biz_outbox_event AS follower FORCE INDEX (idx_aggregate)
JOIN (SELECT aggregate_type AS head_type, aggregate_id AS head_id FROM biz_outbox_event WHERE id = ?) AS head
  ON follower.aggregate_type = head.head_type AND follower.aggregate_id = head.head_id
WHERE publish_status = 0 AND deleted = 0 AND (next_retry_time IS NULL OR next_retry_time <= UTC_TIMESTAMP(6))
  AND id <= ?
ORDER BY id LIMIT ?
