-- When the newest event was created.
SELECT create_time FROM biz_outbox_event ORDER BY id DESC LIMIT 1
