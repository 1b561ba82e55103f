SELECT COALESCE(MAX({key}), 0) FROM {source} AS t
