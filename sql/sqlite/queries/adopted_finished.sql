-- ?1 before, ?2 limit. The oldest first: those that stay are not walked each time.
SELECT {key} FROM {source} AS t{by_key} WHERE {finished_by_key} AND {visible} AND {finished_time} < ?1
ORDER BY {key} LIMIT ?2
