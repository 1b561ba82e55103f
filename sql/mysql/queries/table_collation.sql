SELECT table_collation FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'biz_outbox_event'
