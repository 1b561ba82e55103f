INSERT INTO biz_event_inbox (consumer, event_no, consume_time) VALUES (?, ?, UTC_TIMESTAMP(6))
