-- ? limit. Given up, and their rows are gone, were finished by hand, or were set to pending again.
SELECT d.id FROM {delivery} AS d FORCE INDEX (idx_status_retry_time) LEFT JOIN {source} AS t ON {link}
WHERE d.publish_status IN (3, 4)
  AND (d.publish_status = 4 OR d.retry_count >= d.max_retry_count OR d.next_retry_time IS NULL)
  AND ({key} IS NULL OR NOT ({live}) OR {again})
LIMIT ?
