-- ?1 ids as JSON. The table's rows say what became of their events, unless somebody has finished them by hand.
UPDATE {source} AS t SET {assignments}
FROM {delivery} AS d
WHERE {link} AND d.id IN (SELECT value FROM json_each(?1)) AND {live}
