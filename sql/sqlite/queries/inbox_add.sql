INSERT INTO biz_event_inbox (consumer, event_no, consume_time) VALUES (?1, ?2, ?3)
ON CONFLICT (consumer, event_no) DO NOTHING
