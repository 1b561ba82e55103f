-- In progress without a lease: only a foreign writer does that, and nobody takes such a row back by itself.
SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_lease
WHERE publish_status = 1 AND deleted = 0 AND lock_until IS NULL
