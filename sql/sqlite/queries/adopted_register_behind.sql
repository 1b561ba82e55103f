-- ?1 now, ?2 limit, ?3 behind this key.
INSERT INTO {delivery} ({key_column}, {registered_columns})
SELECT {key}, {registered_values}
FROM {source} AS t{by_key} LEFT JOIN {delivery} AS d ON {link}
WHERE {key} > ?3 AND {open_by_key} AND {visible} AND d.id IS NULL
ORDER BY {order} LIMIT ?2
