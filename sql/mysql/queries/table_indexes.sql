-- ? table: index, unique, its columns in order.
SELECT index_name, non_unique = 0, column_name
FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?
ORDER BY index_name, seq_in_index
