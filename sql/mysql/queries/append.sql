-- Rows sorted by event number, so that writers lock in one order. A number that is there is left as it is.
INSERT INTO biz_outbox_event (id, event_no, aggregate_type, aggregate_id, event_type, event_version, event_source,
    publish_channel, topic, routing_key, event_payload, event_headers, trace_id, remark, max_retry_count,
    next_retry_time, create_time, update_time)
VALUES {rows}
ON DUPLICATE KEY UPDATE event_no = biz_outbox_event.event_no
