-- ids…: those that are unsettled, and whether they are dead. By the primary key: the other indexes hold what was
-- settled.
SELECT id, {dead} FROM biz_outbox_event FORCE INDEX (PRIMARY)
WHERE id IN ({list}) AND publish_status IN (0, 1, 3) AND deleted = 0
