-- ?1: days of the events with a higher id, and the highest.
SELECT {day}, max(id) FROM {table} WHERE id > ?1 GROUP BY 1
