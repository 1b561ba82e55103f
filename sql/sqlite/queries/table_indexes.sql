-- ?1 table: index, unique and of all rows, its columns in order.
SELECT list.name, list."unique" AND NOT list.partial, info.name
FROM pragma_index_list(?1) AS list JOIN pragma_index_info(list.name) AS info
WHERE NOT list.partial
ORDER BY list.name, info.seqno
