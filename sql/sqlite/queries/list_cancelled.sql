-- Cancelled.
SELECT {columns} FROM biz_outbox_event INDEXED BY idx_outbox_aside
WHERE (publish_status = 4 OR deleted <> 0) AND publish_status = 4 AND deleted = 0 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
