-- ?1 before, ?2 limit.
DELETE FROM biz_event_inbox WHERE (consumer, event_no) IN (
    SELECT consumer, event_no FROM biz_event_inbox WHERE consume_time < ?1 ORDER BY consume_time LIMIT ?2)
