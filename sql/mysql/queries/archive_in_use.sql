SELECT EXISTS (SELECT 1 FROM biz_outbox_event_archive)
