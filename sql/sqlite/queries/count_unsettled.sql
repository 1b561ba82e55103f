SELECT
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_new WHERE publish_status = 0 AND deleted = 0) +
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_lease WHERE publish_status = 1 AND deleted = 0) +
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_failed WHERE publish_status = 3 AND deleted = 0)
