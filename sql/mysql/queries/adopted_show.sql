-- ids… The table's rows say what became of their events, unless somebody has finished them by hand.
UPDATE {delivery} AS d FORCE INDEX (PRIMARY) JOIN {source} AS t{by_key} ON {link}
SET {assignments}
WHERE d.id IN ({list}) AND {live}
