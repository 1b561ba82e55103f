-- ? type, ids…, ? not beyond this id: what stands in front, by aggregate in order.
SELECT aggregate_id, id, {dead} FROM biz_outbox_event FORCE INDEX (idx_aggregate)
WHERE aggregate_type = ? AND aggregate_id IN ({list}) AND publish_status IN (0, 1, 3) AND deleted = 0 AND id <= ?
