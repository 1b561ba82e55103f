-- ? table: its indexes with their columns in order.
SELECT index_name, GROUP_CONCAT(column_name ORDER BY seq_in_index)
FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?
GROUP BY index_name
