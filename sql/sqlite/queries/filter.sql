-- The conditions of EventFilter beside the one that drives the query; NULL: any.
(?2 IS NULL OR publish_status IN (SELECT value FROM json_each(?2)))
  AND (?3 IS NULL OR {dead} = ?3)
  AND (?4 IS NULL OR ((publish_status = 0 OR publish_status = 3) AND NOT {dead}
                      AND (next_retry_time IS NULL OR next_retry_time <= ?4)))
  AND (?5 IS NULL OR (publish_status = 1 AND lock_until <= ?5))
  AND (?6 IS NULL OR event_no = ?6) AND (?7 IS NULL OR aggregate_type = ?7) AND (?8 IS NULL OR aggregate_id = ?8)
  AND (?9 IS NULL OR event_type = ?9) AND (?10 IS NULL OR topic = ?10) AND (?11 IS NULL OR publish_channel = ?11)
  AND (?12 IS NULL OR trace_id = ?12) AND (?13 IS NULL OR create_time >= ?13) AND (?14 IS NULL OR create_time < ?14)
  AND (?15 IS NULL OR retry_count >= ?15) AND deleted = 0
