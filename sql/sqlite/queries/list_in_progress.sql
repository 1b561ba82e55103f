-- In progress, or those whose lease ran out.
SELECT {columns} FROM biz_outbox_event INDEXED BY idx_outbox_lease
WHERE publish_status = 1 AND deleted = 0 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
