-- An aggregate's life (idx_aggregate when there).
SELECT {columns} FROM biz_outbox_event
WHERE aggregate_type = ?7 AND aggregate_id = ?8 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
