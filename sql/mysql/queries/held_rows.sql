-- ids…, ? version, ? owner: what that owner holds. After a COMMIT without an answer, and for heartbeats.
SELECT id, version FROM biz_outbox_event FORCE INDEX (PRIMARY)
WHERE id IN ({list}) AND version = ? AND locked_by = ? AND publish_status = {in_progress}
FOR UPDATE
