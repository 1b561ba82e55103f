-- Counts by status from the small indexes; "succeeded" is what is left of the total.
SELECT
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_new WHERE publish_status = 0 AND deleted = 0),
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_lease WHERE publish_status = 1 AND deleted = 0),
    (SELECT count(*) FROM biz_outbox_event) -
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_aside
     WHERE (publish_status = 4 OR deleted <> 0) AND deleted <> 0),
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_failed WHERE publish_status = 3 AND deleted = 0),
    (SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_aside
     WHERE (publish_status = 4 OR deleted <> 0) AND publish_status = 4 AND deleted = 0)
