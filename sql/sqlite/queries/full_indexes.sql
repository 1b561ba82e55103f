-- The seed's whole set (idx_status_retry_time and idx_status_lock_until are served by the partial ones).
CREATE INDEX IF NOT EXISTS idx_aggregate ON biz_outbox_event (aggregate_type, aggregate_id);
CREATE INDEX IF NOT EXISTS idx_event_type_create_time ON biz_outbox_event (event_type, create_time);
CREATE INDEX IF NOT EXISTS idx_topic_create_time ON biz_outbox_event (topic, create_time);
CREATE INDEX IF NOT EXISTS idx_trace_id ON biz_outbox_event (trace_id);
CREATE INDEX IF NOT EXISTS idx_create_time ON biz_outbox_event (create_time);
