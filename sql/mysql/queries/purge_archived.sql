-- ids…, ? how many. ORDER BY and LIMIT keep the server on the primary key.
DELETE FROM biz_outbox_event_archive WHERE id IN ({list}) ORDER BY id LIMIT ?
