SELECT {columns} FROM biz_outbox_event {index}
WHERE {conditions}
ORDER BY id {direction} LIMIT ?
