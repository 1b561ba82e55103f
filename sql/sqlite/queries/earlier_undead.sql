-- The same, where dead events are passed.
SELECT 1 FROM biz_outbox_event INDEXED BY idx_outbox_order
WHERE aggregate_type = ?1 AND aggregate_id = ?2 AND publish_status <> 2 AND publish_status <> 4 AND deleted = 0
  AND id > ?3 AND id < ?4 AND NOT {dead}
LIMIT 1
