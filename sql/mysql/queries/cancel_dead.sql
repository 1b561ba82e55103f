-- ids… Policy: a dead event is cancelled; its reason stays.
UPDATE biz_outbox_event FORCE INDEX (PRIMARY) SET publish_status = {to:cancel}, update_time = UTC_TIMESTAMP(6)
WHERE id IN ({list}) AND {dead}
