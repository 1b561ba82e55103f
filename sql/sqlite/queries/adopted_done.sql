-- ?1 before, ?2 limit. Delivered, and their rows say so.
SELECT id FROM {delivery} INDEXED BY {done_index} WHERE publish_status = 2 AND update_time < ?1 ORDER BY id LIMIT ?2
