-- Cancelled.
SELECT {columns} FROM biz_outbox_event INDEXED BY idx_outbox_cancelled
WHERE publish_status = 4 AND deleted = 0 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
