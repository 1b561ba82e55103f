-- ?1: id of an event; ?2: not beyond this id; ?3 now. New and due scheduled events of its aggregate, in order.
SELECT {what} FROM biz_outbox_event INDEXED BY idx_outbox_order
WHERE aggregate_type = (SELECT aggregate_type FROM biz_outbox_event WHERE id = ?1)
  AND aggregate_id = (SELECT aggregate_id FROM biz_outbox_event WHERE id = ?1)
  AND publish_status <> 2 AND publish_status <> 4 AND deleted = 0
  AND publish_status = 0 AND (next_retry_time IS NULL OR next_retry_time <= ?3) AND id <= ?2
ORDER BY id
