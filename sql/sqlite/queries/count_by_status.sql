-- ?1 event type, ?2 topic, ?3 from, ?4 until; NULL: any.
SELECT publish_status, count(*), sum({dead}), min(CASE WHEN publish_status = 0 THEN id END)
FROM biz_outbox_event
WHERE deleted = 0 AND (?1 IS NULL OR event_type = ?1) AND (?2 IS NULL OR topic = ?2)
  AND (?3 IS NULL OR create_time >= ?3) AND (?4 IS NULL OR create_time < ?4)
GROUP BY publish_status
