SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_failed
WHERE publish_status = 3 AND deleted = 0 AND {dead}
