-- ? reason, ids…
UPDATE biz_outbox_event FORCE INDEX (PRIMARY)
SET publish_status = {to:cancel}, fail_reason = ?, update_time = UTC_TIMESTAMP(6), locked_by = NULL, lock_until = NULL
WHERE id IN ({list}) AND {from:cancel} AND deleted = 0
