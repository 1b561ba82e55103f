-- DO NOTHING only on the event number: other broken rules still raise an error.
INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_version, event_source,
    publish_channel, topic, routing_key, event_payload, event_headers, trace_id, remark, max_retry_count,
    next_retry_time, create_time, update_time)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT (event_no) DO NOTHING
