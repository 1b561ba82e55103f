-- ? id, ? limit: days of the next events with a higher id, the highest, and how many.
SELECT {day}, MAX(id), COUNT(*)
FROM (SELECT id, create_time FROM {table} FORCE INDEX (PRIMARY) WHERE id > ? ORDER BY id LIMIT ?) AS part
GROUP BY 1
