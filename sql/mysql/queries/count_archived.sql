SELECT COUNT(*) FROM biz_outbox_event_archive
