-- ? before, ? limit.
SELECT CAST({key} AS CHAR) FROM {source} AS t{by_status} WHERE {finished} AND {visible} AND {finished_time} < ? LIMIT ?
