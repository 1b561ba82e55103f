-- ? before, ? limit. The oldest first: those that stay are not walked each time.
SELECT CAST({key} AS CHAR) FROM {source} AS t{by_key} WHERE {finished_by_key} AND {visible} AND {finished_time} < ?
ORDER BY {key} LIMIT ?
