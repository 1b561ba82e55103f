-- keys…, ? how many.
DELETE FROM {source} WHERE {key_name} IN ({list}) ORDER BY {key_name} LIMIT ?
