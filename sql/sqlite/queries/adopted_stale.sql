-- ?1 limit. Given up, and their rows are gone, were finished by hand, or were set to pending again.
SELECT d.id FROM {delivery} AS d LEFT JOIN {source} AS t ON {link}
WHERE (d.publish_status = 4
       OR (d.publish_status = 3 AND (d.retry_count >= d.max_retry_count OR d.next_retry_time IS NULL)))
  AND ({key} IS NULL OR NOT ({live}) OR {again})
LIMIT ?1
