-- ?1 before, ?2 limit.
SELECT {key} FROM {source} AS t{by_status} WHERE {finished} AND {visible} AND {finished_time} < ?1 LIMIT ?2
