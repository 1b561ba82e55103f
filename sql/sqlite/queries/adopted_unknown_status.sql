SELECT {status} FROM {source} AS t WHERE NOT ({known}) LIMIT 1
