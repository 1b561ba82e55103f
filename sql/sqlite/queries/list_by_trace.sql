-- By trace (idx_trace_id when there).
SELECT {columns} FROM biz_outbox_event
WHERE trace_id = ?12 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
