-- ?1 now: in progress, and the lease ran out before it.
SELECT count(*) FROM biz_outbox_event INDEXED BY idx_outbox_lease
WHERE publish_status = 1 AND deleted = 0 AND lock_until <= ?1
