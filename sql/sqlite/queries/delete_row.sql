DELETE FROM biz_outbox_event WHERE id = ?1
