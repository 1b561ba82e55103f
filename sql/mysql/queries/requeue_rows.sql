-- ids…
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:requeue}, retry_count = 0, next_retry_time = UTC_TIMESTAMP(6),
    update_time = UTC_TIMESTAMP(6)
WHERE id IN ({list}) AND {from:requeue} AND deleted = 0
