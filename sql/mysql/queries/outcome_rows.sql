-- ids…: how they stand after a COMMIT without an answer.
SELECT id, version, publish_status, next_retry_time, COALESCE(fail_reason, '')
FROM biz_outbox_event FORCE INDEX (PRIMARY) WHERE id IN ({list}) FOR UPDATE
