-- ? behind this key, ? limit.
INSERT INTO {delivery} ({key_column}, {registered_columns})
SELECT {key}, {registered_values}
FROM {source} AS t{by_key} LEFT JOIN {delivery} AS d ON {link}
WHERE {key} > ? AND {open_by_key} AND {visible} AND d.id IS NULL
ORDER BY {order} LIMIT ?
ON DUPLICATE KEY UPDATE event_version = {delivery}.event_version
