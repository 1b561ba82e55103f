SELECT count(*) FROM biz_outbox_event_archive
