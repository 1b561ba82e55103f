-- The server gives the ids, rising in the order of the rows.
INSERT INTO biz_outbox_event (event_no, aggregate_type, aggregate_id, event_type, event_version, event_source,
    publish_channel, topic, routing_key, event_payload, event_headers, trace_id, remark, max_retry_count,
    next_retry_time, create_time, update_time)
VALUES {rows}
