-- No condition that has an index: in id order.
SELECT {columns} FROM biz_outbox_event
WHERE true AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
