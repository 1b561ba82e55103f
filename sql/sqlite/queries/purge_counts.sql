-- ?1 ids as JSON: what they are in biz_event_stat, and the highest.
SELECT {day}, event_type, publish_status, count(*), max(id) FROM {table}
WHERE id IN (SELECT value FROM json_each(?1)) AND deleted = 0 GROUP BY 1, 2, 3
