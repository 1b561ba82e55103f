SELECT CAST({status} AS CHAR) FROM {source} AS t WHERE NOT ({known}) LIMIT 1
