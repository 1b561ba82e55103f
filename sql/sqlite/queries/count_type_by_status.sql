-- The seed's question, by its index: ?1 event type, ?2 topic or NULL, ?3 from, ?4 until.
SELECT publish_status, count(*), sum({dead}), min(CASE WHEN publish_status = 0 THEN id END)
FROM biz_outbox_event
WHERE deleted = 0 AND event_type = ?1 AND (?2 IS NULL OR topic = ?2)
  AND create_time >= coalesce(?3, 0) AND create_time < coalesce(?4, 9223372036854775807)
GROUP BY publish_status
