-- ?1 table: name, type, NOT NULL or part of the key, place in the primary key (0: none).
SELECT name, lower(type), "notnull" OR pk, pk FROM pragma_table_info(?1) ORDER BY cid
