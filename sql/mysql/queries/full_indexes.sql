-- The rest of the seed's set (the tables have idx_create_time, for `rollup`).
ALTER TABLE biz_outbox_event ADD KEY idx_status_lock_until (publish_status, lock_until);
ALTER TABLE biz_outbox_event ADD KEY idx_event_type_create_time (event_type, create_time);
ALTER TABLE biz_outbox_event ADD KEY idx_topic_create_time (topic, create_time);
ALTER TABLE biz_outbox_event ADD KEY idx_trace_id (trace_id);
