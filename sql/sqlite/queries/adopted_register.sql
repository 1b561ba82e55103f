-- ?1 now, ?2 limit. Rows of an adopted table that wait for delivery and were not seen yet.
INSERT INTO {delivery} ({key_column}, {registered_columns})
SELECT {key}, {registered_values}
FROM {source} AS t{by_status} LEFT JOIN {delivery} AS d ON {link}
WHERE {open} AND {visible} AND d.id IS NULL
ORDER BY {order} LIMIT ?2
