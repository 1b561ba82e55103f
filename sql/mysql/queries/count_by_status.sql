SELECT publish_status, COUNT(*), CAST(SUM({dead}) AS SIGNED), MIN(CASE WHEN publish_status = 0 THEN id END)
FROM biz_outbox_event WHERE {conditions}
GROUP BY publish_status
