-- ?1 id.
DELETE FROM biz_outbox_event_archive WHERE id = ?1
