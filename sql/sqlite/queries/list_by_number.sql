-- By event number.
SELECT {columns} FROM biz_outbox_event
WHERE event_no = ?6 AND {page} AND {filter}
ORDER BY id {direction} LIMIT ?16
