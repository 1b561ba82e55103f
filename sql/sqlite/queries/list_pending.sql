-- Pending.
SELECT {columns} FROM biz_outbox_event INDEXED BY idx_outbox_new
WHERE publish_status = 0 AND deleted = 0 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
