-- ?1 limit. Waiting or given up, and their rows are gone, withdrawn or finished by hand; or given up, and set to
-- pending again. New events are not among them: the next claim looks at their rows. One index a branch.
SELECT d.id FROM {delivery} AS d LEFT JOIN {source} AS t ON {link}
WHERE ((d.publish_status = 0 AND d.deleted = 0 AND d.next_retry_time > 0)
       OR (d.publish_status = 3 AND d.deleted = 0)
       OR d.publish_status = 4)
  AND ({key} IS NULL OR NOT ({live}) OR ({visible}) IS NOT TRUE
       OR (({again}) AND (d.publish_status = 4
                          OR (d.publish_status = 3
                              AND (d.retry_count >= d.max_retry_count OR d.next_retry_time IS NULL)))))
LIMIT ?1
