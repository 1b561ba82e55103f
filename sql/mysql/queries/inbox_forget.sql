-- ? before, ? limit.
DELETE FROM biz_event_inbox WHERE consume_time < ? ORDER BY consume_time LIMIT ?
