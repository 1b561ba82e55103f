-- Failed: due retries, dead, by topic, often.
SELECT {columns} FROM biz_outbox_event INDEXED BY idx_outbox_failed
WHERE publish_status = 3 AND deleted = 0 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
