SELECT coalesce(max({key}), 0) FROM {source} AS t
