DELETE FROM {source} WHERE {key_name} = ?1
